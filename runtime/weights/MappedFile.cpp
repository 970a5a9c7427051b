// A file mapped for reading.
#include "runtime/weights/MappedFile.h"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nnterp {

MappedFile mapFile(const std::string &path, Diagnostics &diags, const SourceLoc &from) {
  MappedFile result;
  int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC);
  struct stat info = {};
  bool ok = fd >= 0 && fstat(fd, &info) == 0;
  if (ok && !S_ISREG(info.st_mode)) {
    errno = S_ISDIR(info.st_mode) ? EISDIR : EINVAL;
    ok = false;
  }
  size_t size = ok ? size_t(info.st_size) : 0;
  if (ok && size == 0) { // an empty mapping does not exist
    result.keep = std::make_shared<char>();
  } else if (ok) {
    void *start = mmap(nullptr, size, PROT_READ, MAP_SHARED, fd, 0);
    ok = start != MAP_FAILED;
    if (ok) {
      result.keep = std::shared_ptr<void>(start, [size](void *p) { munmap(p, size); });
      result.bytes = {static_cast<const char *>(start), size};
    }
  }
  int reason = errno;
  if (fd >= 0)
    close(fd);
  if (!ok)
    diags.error("NNT0101", from.file.empty() ? SourceLoc{path, 0, 0} : from,
                "cannot read \"" + path + "\": " + std::strerror(reason));
  return result;
}

} // namespace nnterp
