// A file that appears under its name complete or not at all.
#include "runtime/weights/AtomicFile.h"
#include "runtime/weights/Safetensors.h"

#include <atomic>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

namespace nnterp {

/// Follows links, so that renaming replaces what a link points to and not the link.
static std::string resolved(const std::string &path) {
  char *real = realpath(path.c_str(), nullptr);
  std::string result = real ? real : path;
  std::free(real);
  return result;
}

AtomicFile::AtomicFile(const std::string &path) : path(path), target(resolved(path)) {
  static std::atomic<unsigned> serial{0};
  struct stat info;
  int flags = O_WRONLY | O_CLOEXEC;
  if (stat(target.c_str(), &info) == 0 && !S_ISREG(info.st_mode)) {
    fd = open(target.c_str(), flags);
  } else {
    temporary = target + ".tmp-" + std::to_string(getpid()) + "-" + std::to_string(serial++);
    fd = open(temporary.c_str(), flags | O_CREAT | O_EXCL, 0666);
  }
  if (fd < 0) {
    remember(errno);
    temporary.clear();
  }
}

AtomicFile::~AtomicFile() {
  if (fd >= 0)
    close(fd);
  if (!temporary.empty())
    unlink(temporary.c_str());
}

void AtomicFile::remember(int reason) {
  if (failure == 0)
    failure = reason;
}

void AtomicFile::write(const void *bytes, size_t size) {
  const char *at = static_cast<const char *>(bytes);
  while (size > 0 && failure == 0) {
    ssize_t done = ::write(fd, at, size);
    if (done < 0 && errno != EINTR)
      remember(errno);
    if (done > 0) {
      at += done;
      size -= size_t(done);
    }
  }
}

bool AtomicFile::commit(Diagnostics &diags) {
  if (fd >= 0 && close(fd) != 0) // a full disk may be reported only here
    remember(errno);
  fd = -1;
  if (failure == 0 && !temporary.empty()) {
    if (std::rename(temporary.c_str(), target.c_str()) != 0)
      remember(errno);
    else
      temporary.clear();
  }
  if (failure == 0)
    return true;
  diags.error("NNT0102", {path, 0, 0}, "cannot write \"" + path + "\": " + std::strerror(failure));
  return false;
}

bool writeFileAtomically(const std::string &path, std::string_view bytes, Diagnostics &diags) {
  AtomicFile file(path);
  file.write(bytes.data(), bytes.size());
  return file.commit(diags);
}

} // namespace nnterp
