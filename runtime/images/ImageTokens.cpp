// Counts, checks and multiplies image tokens.
#include "runtime/images/ImageTokens.h"
#include "runtime/images/Picture.h"

#include <algorithm>

namespace nnterp {

namespace {

std::string count(size_t number, const std::string &what) {
  return std::to_string(number) + " " + what + (number == 1 ? "" : "s");
}

std::string place(size_t row, size_t token) {
  return "row " + std::to_string(row) + ", token " + std::to_string(token);
}

/// No token stands for a part of a video.
bool checkVideos(const TokenRows &rows, const ImageTokenRules &rules, const SourceLoc &loc, Diagnostics &diags) {
  bool good = true;
  for (size_t b = 0; b < rows.size(); ++b) {
    const auto found = std::find(rows[b].begin(), rows[b].end(), rules.videoToken);
    if (found == rows[b].end())
      continue;
    diags.error("NNT1415", loc,
                place(b, size_t(found - rows[b].begin())) + ": id " + std::to_string(rules.videoToken) +
                    " stands for a part of a video, and videos are not supported; expected images only");
    good = false;
  }
  return good;
}

} // namespace

std::optional<std::vector<ImageGrid>> readGrids(const Tensor &imageGridThw, const ImageTokenRules &rules,
                                                const SourceLoc &loc, Diagnostics &diags) {
  if (imageGridThw.dtype != DType::i64 || imageGridThw.shape.size() != 2 || imageGridThw.shape[1] != 3) {
    diags.error("NNT1413", loc,
                "\"image_grid_thw\" is " + std::string(name(imageGridThw.dtype)) + " " + toString(imageGridThw.shape) +
                    "; expected int64 [images, 3]");
    return std::nullopt;
  }
  std::vector<ImageGrid> grids;
  bool good = true;
  for (int64_t i = 0; i < imageGridThw.shape[0]; ++i) {
    const int64_t *row = imageGridThw.as<int64_t>() + i * 3;
    const ImageGrid grid{row[0], row[1], row[2]};
    const std::string found =
        "image " + std::to_string(i) + " has the grid " + toString(Shape(row, row + 3)) + "; expected ";
    auto side = [&](int64_t n) { return n > 0 && n <= maxPicturePixels && n % rules.mergeSize == 0; };
    if (grid.t > 1)
      diags.error("NNT1415", loc, found + "one frame: videos are not supported");
    else if (grid.t < 1 || !side(grid.h) || !side(grid.w) || grid.h > maxPicturePixels / grid.w)
      diags.error("NNT1413", loc,
                  found + "[1, h, w] with h and w multiples of " + std::to_string(rules.mergeSize) +
                      " from there on, and at most " + std::to_string(maxPicturePixels) + " patches");
    else {
      grids.push_back(grid);
      continue;
    }
    good = false;
  }
  return good ? std::optional(std::move(grids)) : std::nullopt;
}

bool checkPatches(const std::vector<ImageGrid> &grids, int64_t patches, const SourceLoc &loc, Diagnostics &diags) {
  int64_t expected = 0;
  for (const ImageGrid &grid : grids)
    expected += grid.patches();
  if (expected == patches)
    return true;
  diags.error("NNT1414", loc,
              "the grids of " + count(grids.size(), "image") + " say " + std::to_string(expected) +
                  " patches; \"pixel_values\" has " + std::to_string(patches));
  return false;
}

std::optional<TokenRows> expandImageTokens(const TokenRows &rows, const std::vector<ImageGrid> &grids,
                                           const ImageTokenRules &rules, const SourceLoc &loc, Diagnostics &diags) {
  if (!checkVideos(rows, rules, loc, diags))
    return std::nullopt;
  size_t places = 0;
  for (const std::vector<int64_t> &row : rows)
    places += size_t(std::count(row.begin(), row.end(), rules.imageToken));
  if (places != grids.size()) {
    diags.error("NNT1411", loc,
                "the prompt has " + count(places, "place") + " for images; given: " + count(grids.size(), "image"));
    return std::nullopt;
  }
  TokenRows expanded(rows.size());
  auto next = grids.begin();
  for (size_t b = 0; b < rows.size(); ++b)
    for (const int64_t id : rows[b])
      expanded[b].insert(expanded[b].end(), id == rules.imageToken ? size_t(next++->tokens(rules.mergeSize)) : 1, id);
  return expanded;
}

bool checkImageTokens(const TokenRows &rows, const std::vector<ImageGrid> &grids, const ImageTokenRules &rules,
                      const SourceLoc &loc, Diagnostics &diags) {
  bool good = checkVideos(rows, rules, loc, diags);
  size_t image = 0;
  for (size_t b = 0; b < rows.size(); ++b)
    for (auto at = rows[b].begin(); at != rows[b].end();) {
      const auto begin = std::find(at, rows[b].end(), rules.imageToken);
      at = std::find_if(begin, rows[b].end(), [&](int64_t id) { return id != rules.imageToken; });
      if (begin == at)
        break;
      const size_t index = image++, length = size_t(at - begin);
      if (index >= grids.size() || length == size_t(grids[index].tokens(rules.mergeSize)))
        continue;
      const ImageGrid &grid = grids[index];
      std::string message = place(b, size_t(begin - rows[b].begin())) + ": " + count(length, "image token") +
                            " for image " + std::to_string(index) + "; expected " +
                            std::to_string(grid.tokens(rules.mergeSize)) + ", as its grid " +
                            toString({grid.t, grid.h, grid.w}) + " has";
      if (index + 1 < grids.size() &&
          length == size_t(grid.tokens(rules.mergeSize) + grids[index + 1].tokens(rules.mergeSize)))
        message += "; two images must not touch";
      diags.error("NNT1412", loc, message);
      good = false;
    }
  if (image != grids.size() && good) {
    diags.error("NNT1411", loc,
                "the prompt has " + count(image, "run") + " of image tokens; given: " + count(grids.size(), "image"));
    good = false;
  }
  return good;
}

} // namespace nnterp
