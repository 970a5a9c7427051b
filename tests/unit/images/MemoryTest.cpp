// How much memory pictures take at most: measured in a process of its own.
#include "PictureFiles.h"
#include "runtime/images/Preprocess.h"

#include <catch2/catch.hpp>
#include <functional>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

namespace nnterp {

#if !defined(__SANITIZE_ADDRESS__)

/// MiB by which `work` raises the peak of a process, and whether it found what it expected.
static std::pair<double, bool> peakOf(const std::function<bool()> &work) {
  auto run = [](const std::function<bool()> &body) {
    const pid_t child = fork();
    if (child == 0)
      _exit(body() ? 0 : 1);
    int status = 0;
    struct rusage usage = {};
    wait4(child, &status, 0, &usage);
    return std::pair(double(usage.ru_maxrss) / 1024, WIFEXITED(status) && WEXITSTATUS(status) == 0);
  };
  const double before = run([] { return true; }).first;
  const auto [after, good] = run(work);
  return {after - before, good};
}

TEST_CASE("A picture of 2048 x 2048 takes its patches and little else", "[images]") {
  const TempDir dir;
  writeBytes(dir / "p.png", pngFile({2048, 2048, 8, 0, false, "", ""}, someNumbers(2048 * 2048, 256)));
  ImageRules rules;
  rules.patchSize = 16;
  rules.maxPixels = 16777216;
  const auto [peak, good] = peakOf([&] {
    Diagnostics diags;
    return loadImage(dir / "p.png", rules, diags).has_value();
  });
  CHECK(good);
  CHECK(peak < 96 + 12 + 4 + 12); // patches, pixels, the file, and room for the libraries
}

TEST_CASE("Headers that lie do not take memory", "[images]") {
  const std::string png = pngHeader({13000, 13000, 16, 6, true, "", ""}) + pngChunk("IDAT", std::string(1000, 'x'));
  // Enough bytes for the size to be possible; the pixels end at once.
  const std::string filled = pngHeader({13000, 13000, 1, 0, false, "", ""}) +
                             pngChunk("teST", std::string(30000, 'x')) + pngChunk("IDAT", std::string(1000, 'x'));
  std::string jpeg = jpegFile({64, 64, 3, true});
  jpeg.replace(jpeg.find("\xff\xc2") + 5, 4, std::string("\x30\0\x30\0", 4)); // 12288 x 12288
  for (const std::string &file : {png, filled, jpeg}) {
    const auto [peak, good] = peakOf([&] { return !decoded(file).picture; });
    CHECK(good);
    CHECK(peak < 16);
  }
}

#endif

} // namespace nnterp
