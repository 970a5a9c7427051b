// Resizing: weights by hand, and results against a plain double computation.
#include "PictureFiles.h"
#include "runtime/images/Resize.h"

#include <catch2/catch.hpp>
#include <cmath>

namespace nnterp {

static Picture pictureOf(int64_t width, int64_t height) {
  Picture picture = Picture::make(width, height);
  const std::vector<int> numbers = someNumbers(picture.rowBytes() * size_t(height), 256);
  std::copy(numbers.begin(), numbers.end(), picture.rgb.get());
  return picture;
}

TEST_CASE("Weights of halving and doubling", "[images]") {
  const ResizeAxis half = resizeAxis(8, 4);
  CHECK(half.stride == 9);
  CHECK(half.begin == std::vector<int32_t>{0, 0, 1, 3});
  CHECK(half.count == std::vector<int32_t>{5, 7, 7, 5});
  for (size_t i = 0; i < 4; ++i) {
    int sum = 0;
    for (int j = 0; j < half.stride; ++j)
      sum += half.weights[i * 9 + size_t(j)];
    CHECK(std::abs(sum - (1 << half.precision)) <= 4);
  }
  const ResizeAxis twice = resizeAxis(4, 8);
  CHECK(twice.stride == 5);
  CHECK(twice.begin == std::vector<int32_t>{0, 0, 0, 0, 0, 1, 1, 2});
}

TEST_CASE("Precision is what leaves the largest weight within 16 bits", "[images]") {
  for (const auto &[in, out] :
       std::vector<std::pair<int64_t, int64_t>>{{1, 100}, {7, 5}, {100, 3}, {4000, 2}, {5000, 1}}) {
    const ResizeAxis axis = resizeAxis(in, out);
    int largest = 0;
    for (const int16_t weight : axis.weights)
      largest = std::max(largest, int(weight));
    CHECK(axis.precision <= 22);
    CHECK((largest >= 1 << 14 || axis.precision == 22));
  }
}

/// One axis in doubles, not rounded.
static double sampled(const std::vector<double> &in, int64_t out, int64_t i) {
  const double scale = double(in.size()) / double(out), wide = std::max(scale, 1.0), centre = scale * (double(i) + 0.5);
  double sum = 0, weights = 0;
  for (size_t j = 0; j < in.size(); ++j) {
    const double x = std::fabs((double(j) - centre + 0.5) / wide);
    const double w = x < 1 ? 1.5 * x * x * x - 2.5 * x * x + 1 : x < 2 ? -0.5 * x * x * x + 2.5 * x * x - 4 * x + 2 : 0;
    sum += w * in[j];
    weights += w;
  }
  return sum / weights;
}

TEST_CASE("Resizing is within one level of exact bicubic sampling", "[images]") {
  for (const auto &[width, height, newWidth, newHeight] : std::vector<std::array<int64_t, 4>>{{31, 17, 64, 32},
                                                                                              {200, 90, 32, 64},
                                                                                              {1, 1, 32, 32},
                                                                                              {64, 40, 64, 96},
                                                                                              {300, 64, 32, 64},
                                                                                              {3, 250, 32, 32}}) {
    INFO(width << " x " << height << " to " << newWidth << " x " << newHeight);
    const Picture in = pictureOf(width, height);
    const Picture out = resized(pictureOf(width, height), newWidth, newHeight);
    REQUIRE(out.width == newWidth);
    REQUIRE(out.height == newHeight);
    for (int64_t x = 0; x < newWidth; x += 7) {
      std::vector<double> column;
      for (int64_t y = 0; y < height; ++y) {
        std::vector<double> row;
        for (int64_t i = 0; i < width; ++i)
          row.push_back(in.row(y)[i * 3 + 1]);
        const double value = width == newWidth ? row[size_t(x)] : sampled(row, newWidth, x);
        column.push_back(std::clamp(std::round(value), 0.0, 255.0));
      }
      for (int64_t y = 0; y < newHeight; ++y) {
        const double value = height == newHeight ? column[size_t(y)] : sampled(column, newHeight, y);
        CHECK(std::fabs(out.row(y)[x * 3 + 1] - std::clamp(value, 0.0, 255.0)) <= 1.6);
      }
    }
  }
}

TEST_CASE("A picture that has its size already is left alone", "[images]") {
  CHECK(samplesOf(resized(pictureOf(32, 64), 32, 64)) == samplesOf(pictureOf(32, 64)));
}

} // namespace nnterp
