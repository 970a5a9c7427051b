// Reads a whole file into memory, with a diagnosed error.
#include "runtime/abi/File.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nnterp {

/// Appends to `bytes` until the end of the file; false on a read error (errno says which). The size is not asked for
/// first, so that pipes (`--plan <(…)`) can be read as well.
static bool readAll(int fd, std::string &bytes) {
  struct stat info;
  size_t guess = fstat(fd, &info) == 0 && info.st_size > 0 ? size_t(info.st_size) + 1 : 65536;
  size_t used = 0;
  for (;;) {
    if (used == bytes.size())
      bytes.resize(used == 0 ? guess : used * 2);
    ssize_t got = read(fd, bytes.data() + used, bytes.size() - used);
    if (got < 0 && errno == EINTR)
      continue;
    if (got <= 0) {
      bytes.resize(used);
      return got == 0;
    }
    used += size_t(got);
  }
}

std::optional<std::string> readFile(const std::string &path, Diagnostics &diags, const SourceLoc &from) {
  std::string bytes;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  bool ok = fd >= 0 && readAll(fd, bytes);
  int reason = errno;
  if (fd >= 0)
    close(fd);
  if (ok)
    return bytes;
  diags.error("NNT0101", from.file.empty() ? SourceLoc{path, 0, 0} : from,
              "cannot read \"" + path + "\": " + std::strerror(reason));
  return std::nullopt;
}

} // namespace nnterp
