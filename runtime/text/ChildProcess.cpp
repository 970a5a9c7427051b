// Runs a program with its three streams in our hands.
#include "runtime/text/ChildProcess.h"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <utility>

extern char **environ;

namespace nnterp {

namespace {

using Clock = std::chrono::steady_clock;

/// A file descriptor that closes itself.
class Fd {
public:
  explicit Fd(int fd = -1) : fd(fd) {}
  Fd(Fd &&other) noexcept : fd(std::exchange(other.fd, -1)) {}
  Fd &operator=(Fd &&other) noexcept {
    std::swap(fd, other.fd);
    return *this;
  }
  ~Fd() { close(); }
  void close() {
    if (fd >= 0)
      ::close(fd);
    fd = -1;
  }
  int get() const { return fd; }
  bool open() const { return fd >= 0; }

private:
  int fd;
};

/// Our end of a stream of the child, and the child's. Sockets, because writing to one whose reader is gone can be told
/// to fail instead of raising a signal.
struct Stream {
  Fd ours, theirs;

  bool create() {
    int ends[2];
    if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) != 0)
      return false;
    ours = Fd(ends[0]);
    theirs = Fd(ends[1]);
    return fcntl(ours.get(), F_SETFL, O_NONBLOCK) == 0;
  }
};

class Child {
public:
  ChildResult run(const std::vector<std::string> &arguments, std::string_view input, const ChildLimits &limits) {
    deadline = Clock::now() + limits.time;
    if (start(arguments)) {
      const bool drained = talk(input, limits.bytes);
      wait(!drained);
    }
    return std::move(result);
  }

private:
  bool start(const std::vector<std::string> &arguments) {
    for (Stream &stream : streams)
      if (!stream.create())
        return notStarted(errno);
    std::vector<char *> argv;
    for (const std::string &argument : arguments)
      argv.push_back(const_cast<char *>(argument.c_str())); // the child gets copies
    argv.push_back(nullptr);
    posix_spawn_file_actions_t actions;
    if (int failure = posix_spawn_file_actions_init(&actions))
      return notStarted(failure);
    int failure = 0;
    for (int i = 0; i < 3 && failure == 0; ++i)
      failure = posix_spawn_file_actions_adddup2(&actions, streams[size_t(i)].theirs.get(), i);
    if (failure == 0)
      failure = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ);
    posix_spawn_file_actions_destroy(&actions);
    for (Stream &stream : streams)
      stream.theirs.close();
    return failure == 0 || notStarted(failure);
  }

  bool notStarted(int failure) {
    result.end = ChildResult::End::notStarted;
    result.error = std::strerror(failure);
    return false;
  }

  /// Writes the input and reads both outputs until the child has closed them. False: it broke a limit.
  bool talk(std::string_view input, size_t most) {
    Fd &in = streams[0].ours;
    while (streams[1].ours.open() || streams[2].ours.open()) {
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now()).count();
      if (left <= 0)
        return stop(ChildResult::End::tooSlow);
      if (input.empty())
        in.close();
      std::array<pollfd, 3> polled;
      for (size_t i = 0; i < 3; ++i)
        polled[i] = {streams[i].ours.get(), short(i == 0 ? POLLOUT : POLLIN), 0}; // poll skips the closed ones
      if (poll(polled.data(), polled.size(), int(left)) < 0)
        continue; // a signal
      if (polled[0].revents != 0)
        write(in, input);
      if (polled[1].revents != 0)
        read(streams[1].ours, result.out);
      if (polled[2].revents != 0)
        read(streams[2].ours, result.err);
      if (result.out.size() > most || result.err.size() > most)
        return stop(ChildResult::End::tooMuch);
    }
    return true;
  }

  static void write(Fd &fd, std::string_view &input) {
    const ssize_t sent = send(fd.get(), input.data(), input.size(), MSG_NOSIGNAL);
    if (sent >= 0)
      input.remove_prefix(size_t(sent));
    else if (errno != EAGAIN && errno != EINTR)
      fd.close(); // it does not want to read all of it
  }

  static void read(Fd &fd, std::string &bytes) {
    char buffer[1 << 16];
    const ssize_t got = ::read(fd.get(), buffer, sizeof buffer);
    if (got > 0)
      bytes.append(buffer, size_t(got));
    else if (got == 0 || (errno != EAGAIN && errno != EINTR))
      fd.close();
  }

  bool stop(ChildResult::End why) {
    result.end = why;
    return false;
  }

  /// A child that has closed its outputs ends soon, or is ended.
  void wait(bool now) {
    bool killed = false;
    for (;;) {
      if (!killed && (now || Clock::now() >= deadline)) {
        if (!now)
          result.end = ChildResult::End::tooSlow;
        kill(pid, SIGKILL);
        killed = true;
      }
      const pid_t got = waitpid(pid, &result.status, killed ? 0 : WNOHANG);
      if (got == pid || (got < 0 && errno != EINTR)) // ECHILD: somebody else asked first, how it ended is not known
        return;
      if (got == 0)
        std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  }

  std::array<Stream, 3> streams;
  pid_t pid = -1;
  Clock::time_point deadline;
  ChildResult result;
};

} // namespace

ChildResult runChild(const std::vector<std::string> &arguments, std::string_view input, const ChildLimits &limits) {
  return Child().run(arguments, input, limits);
}

} // namespace nnterp
