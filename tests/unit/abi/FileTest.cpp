// Tests of reading whole files.
#include "runtime/abi/File.h"

#include <catch2/catch.hpp>
#include <cstdio>
#include <fcntl.h>
#include <unistd.h>

using namespace nnterp;

TEST_CASE("a file is read whole", "[file]") {
  Diagnostics diags;
  std::optional<std::string> text = readFile(NNTERP_TEST_DATA "/checkpoints/tiny-text/config.json", diags);
  REQUIRE(text);
  CHECK(text->size() == 1373);
  CHECK(text->front() == '{');
  CHECK(diags.all().empty());
}

TEST_CASE("what has no size is read as well", "[file]") {
  int ends[2];
  REQUIRE(pipe(ends) == 0);
  std::string sent(40000, 'x');
  REQUIRE(write(ends[1], sent.data(), sent.size()) == ssize_t(sent.size()));
  close(ends[1]);
  Diagnostics diags;
  CHECK(readFile("/dev/fd/" + std::to_string(ends[0]), diags) == sent);
  close(ends[0]);
}

TEST_CASE("NNT0101: a file that cannot be read", "[file]") {
  Diagnostics diags;
  CHECK_FALSE(readFile("/no/such/file", diags));
  CHECK_FALSE(readFile("/", diags));
  CHECK_FALSE(readFile("/no/such/file", diags, {"plan.json", 2, 9}));
  REQUIRE(diags.all().size() == 3);
  CHECK(format(diags.all()[0]) ==
        "/no/such/file: error NNT0101: cannot read \"/no/such/file\": No such file or directory\n");
  CHECK(format(diags.all()[1]) == "/: error NNT0101: cannot read \"/\": Is a directory\n");
  CHECK(format(diags.all()[2]) ==
        "plan.json:2:9: error NNT0101: cannot read \"/no/such/file\": No such file or directory\n");
}
