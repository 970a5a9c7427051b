// Resizes pictures.
#include "runtime/images/Resize.h"

#include <algorithm>
#include <cmath>

namespace nnterp {

namespace {

/// Keys' cubic with a = -1/2.
double cubic(double x) {
  x = std::fabs(x);
  if (x < 1)
    return (1.5 * x - 2.5) * x * x + 1;
  return x < 2 ? ((-0.5 * x + 2.5) * x - 4) * x + 2 : 0;
}

uint8_t toByte(int32_t sum, int precision) { return uint8_t(std::clamp(sum >> precision, 0, 255)); }

Picture resizedWidth(const Picture &in, int64_t width) {
  const ResizeAxis axis = resizeAxis(in.width, width);
  Picture out = Picture::make(width, in.height);
  const int32_t half = 1 << (axis.precision - 1);
  for (int64_t y = 0; y < in.height; ++y) {
    const uint8_t *row = in.row(y);
    uint8_t *to = out.row(y);
    for (int64_t x = 0; x < width; ++x, to += 3) {
      const uint8_t *from = row + int64_t(axis.begin[size_t(x)]) * 3;
      const int16_t *weights = axis.weights.data() + x * axis.stride;
      int32_t r = half, g = half, b = half;
      for (int j = 0; j < axis.count[size_t(x)]; ++j, from += 3) {
        r += from[0] * weights[j];
        g += from[1] * weights[j];
        b += from[2] * weights[j];
      }
      to[0] = toByte(r, axis.precision);
      to[1] = toByte(g, axis.precision);
      to[2] = toByte(b, axis.precision);
    }
  }
  return out;
}

Picture resizedHeight(const Picture &in, int64_t height) {
  const ResizeAxis axis = resizeAxis(in.height, height);
  Picture out = Picture::make(in.width, height);
  const size_t bytes = in.rowBytes();
  std::vector<int32_t> sums(bytes);
  for (int64_t y = 0; y < height; ++y) {
    std::fill(sums.begin(), sums.end(), 1 << (axis.precision - 1));
    for (int j = 0; j < axis.count[size_t(y)]; ++j) {
      const uint8_t *from = in.row(axis.begin[size_t(y)] + j);
      const int32_t weight = axis.weights[size_t(y * axis.stride + j)];
      int32_t *sum = sums.data();
      for (size_t i = 0; i < bytes; ++i)
        sum[i] += from[i] * weight;
    }
    uint8_t *to = out.row(y);
    for (size_t i = 0; i < bytes; ++i)
      to[i] = toByte(sums[i], axis.precision);
  }
  return out;
}

} // namespace

ResizeAxis resizeAxis(int64_t in, int64_t out) {
  const double scale = double(in) / double(out), wide = std::max(scale, 1.0), support = 2 * wide;
  ResizeAxis axis;
  axis.stride = int(std::ceil(support)) * 2 + 1;
  axis.begin.resize(size_t(out));
  axis.count.resize(size_t(out));
  std::vector<double> weights(size_t(out * axis.stride));
  double largest = 0;
  for (int64_t i = 0; i < out; ++i) {
    const double centre = scale * (double(i) + 0.5);
    const int64_t low = std::max<int64_t>(int64_t(centre - support + 0.5), 0);
    const int64_t high = std::min<int64_t>(int64_t(centre + support + 0.5), in);
    const int64_t count = std::clamp<int64_t>(high - low, 0, axis.stride);
    double *w = weights.data() + i * axis.stride, sum = 0;
    for (int64_t j = 0; j < count; ++j)
      sum += w[j] = cubic((double(j + low) - centre + 0.5) / wide);
    for (int64_t j = 0; j < count; ++j) {
      w[j] /= sum;
      largest = std::max(largest, w[j]);
    }
    axis.begin[size_t(i)] = int32_t(low);
    axis.count[size_t(i)] = int32_t(count);
  }
  // As many bits as leave the largest weight within 16.
  while (axis.precision < 22 && int64_t(0.5 + largest * double(int64_t(2) << axis.precision)) < 1 << 15)
    ++axis.precision;
  const double unit = double(int64_t(1) << axis.precision);
  axis.weights.reserve(weights.size());
  for (const double w : weights)
    axis.weights.push_back(int16_t(std::trunc(w * unit + (w < 0 ? -0.5 : 0.5))));
  return axis;
}

Picture resized(Picture picture, int64_t width, int64_t height) {
  if (picture.width != width)
    picture = resizedWidth(picture, width);
  return picture.height == height ? std::move(picture) : resizedHeight(picture, height);
}

} // namespace nnterp
