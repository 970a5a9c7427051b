// A child process: its streams, its end, and its limits.
#include "runtime/text/ChildProcess.h"

#include <catch2/catch.hpp>
#include <csignal>
#include <sys/wait.h>

using namespace nnterp;
using End = ChildResult::End;

static ChildResult shell(const std::string &script, const std::string &input = "", ChildLimits limits = {}) {
  return runChild({"sh", "-c", script}, input, limits);
}

TEST_CASE("streams and status of a child") {
  const ChildResult child = shell("cat; echo oops >&2; exit 3", "in");
  CHECK(child.end == End::finished);
  CHECK((child.out == "in" && child.err == "oops\n"));
  CHECK((WIFEXITED(child.status) && WEXITSTATUS(child.status) == 3));
  CHECK(shell("true").status == 0);
  const ChildResult killed = shell("kill -9 $$");
  CHECK((killed.end == End::finished && WIFSIGNALED(killed.status) && WTERMSIG(killed.status) == SIGKILL));
}

TEST_CASE("more than any buffer holds goes through, both ways at once") {
  const std::string large(5000000, 'x');
  ChildLimits limits;
  limits.bytes = large.size();
  const ChildResult child = shell("cat", large, limits);
  CHECK(child.end == End::finished);
  CHECK(child.out == large);
}

TEST_CASE("a child that does not read its input is no trouble") {
  const std::string large(5000000, 'x');
  const ChildResult child = shell("echo done", large);
  CHECK((child.end == End::finished && child.out == "done\n"));
  CHECK(shell("exec <&-; sleep 0.1; echo done", large).out == "done\n");
}

TEST_CASE("a child is stopped when its time is over, even with its streams closed") {
  ChildLimits limits;
  limits.time = std::chrono::milliseconds(200);
  const auto start = std::chrono::steady_clock::now();
  CHECK(shell("exec sleep 60", "", limits).end == End::tooSlow);
  CHECK(shell("exec >&- 2>&-; exec sleep 60", "", limits).end == End::tooSlow);
  CHECK(std::chrono::steady_clock::now() - start < std::chrono::seconds(20));
}

TEST_CASE("a child is stopped when it writes too much") {
  ChildLimits limits;
  limits.bytes = 100000;
  CHECK(shell("exec yes", "", limits).end == End::tooMuch);
  CHECK(shell("exec yes >&2", "", limits).end == End::tooMuch);
}

TEST_CASE("a program that is not there") {
  const ChildResult child = runChild({"nnterp-no-such-program"}, "", {});
  CHECK(child.end == End::notStarted);
  CHECK(child.error == "No such file or directory");
}
