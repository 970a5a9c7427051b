// Tests of the pickle reader: no archive and no LibTorch is needed for it.
#include "runtime/weights/TorchPickle.h"
#include "Fixtures.h"

#include <catch2/catch.hpp>

using namespace nnterp;

static std::string errorsOf(const std::string &bytes) {
  std::vector<PickledTensor> tensors;
  Diagnostics diags;
  CHECK_FALSE(readTorchPickle(bytes, "f", tensors, diags));
  return text(diags);
}

/// A lone tensor of two floats, as torch.save pickles it.
static std::string lone() {
  // std::string's constructor from a literal would stop at the first zero byte.
  std::string p = "ctorch._utils\n_rebuild_tensor_v2\n((X";
  p += std::string("\x07\0\0\0", 4) + "storagectorch\nFloatStorage\nX" + std::string("\x01\0\0\0", 4) + "0X" +
       std::string("\x03\0\0\0", 4) + "cpuK\x02tQ" + std::string("K\0", 2) + "K\x02\x85K\x01\x85\x89Ntq\x01R";
  return p;
}

TEST_CASE("a lone tensor, and one under a key", "[pickle]") {
  std::vector<PickledTensor> tensors;
  Diagnostics diags;
  REQUIRE(readTorchPickle("\x80\x02" + lone() + ".", "f", tensors, diags));
  REQUIRE(tensors.size() == 1);
  CHECK(tensors[0].key == "");
  CHECK(tensors[0].dtype == DType::f32);
  CHECK(tensors[0].shape == Shape{2});
  CHECK(tensors[0].strides == Shape{1});
  CHECK(tensors[0].offset == 0);
  CHECK(tensors[0].storage == "0");
  tensors.clear();
  REQUIRE(readTorchPickle("}(U\x01"
                          "aK\x01\x8c\x01w" +
                              lone() + "u.",
                          "f", tensors, diags));
  REQUIRE(tensors.size() == 1);
  CHECK(tensors[0].key == "w");
}

TEST_CASE("NNT0312: pickles that cannot be followed", "[pickle]") {
  const std::string at = "f: error NNT0312: the pickle in this file cannot be followed beyond byte ";
  CHECK(errorsOf("") == at + "0: it ends before its end mark\n");
  CHECK(errorsOf("}") == at + "1: it ends before its end mark\n");
  CHECK(errorsOf(".") == at + "1: it takes a value where there is none\n");
  CHECK(errorsOf("t.") == at + "1: it asks for a mark where there is none\n");
  CHECK(errorsOf("h\x07.") == at + "2: it recalls a value that was not stored\n");
  CHECK(errorsOf("X\xFF\xFF\xFF\x7Fxx.") == at + "5: it ends within a value\n");
  CHECK(errorsOf("ctorch") == at + "1: it ends within a name\n");
  CHECK(errorsOf("}(NU.") == at + "5: it ends within a value\n");
  CHECK(errorsOf("}(Nu.") == at + "4: it gives a dict a key without a value\n");
  CHECK(errorsOf("NQ.") == at + "2: it refers to a storage in an unknown way\n");
  CHECK(errorsOf("ctorch._utils\n_rebuild_tensor_v2\n)R.") == at + "35: it describes a tensor in an unknown way\n");
  CHECK(errorsOf("NN\x93.") == at + "3: it names a class by something other than text\n");
  CHECK(errorsOf("i.") == at + "1: it has an operation that torch.save does not write\n");
}

TEST_CASE("every truncation of a good pickle is diagnosed", "[pickle]") {
  const std::string whole = "\x80\x02}(U\x01"
                            "aK\x01\x8c\x01w" +
                            lone() + "u.";
  for (size_t length = 0; length < whole.size(); ++length)
    CHECK(errorsOf(whole.substr(0, length)) != "");
}

TEST_CASE("NNT0312: a list that contains itself", "[pickle]") {
  CHECK(errorsOf("]q\x01h\x01"
                 "a.") == "f: error NNT0312: the pickle in this file is nested or shared without bound\n");
}

TEST_CASE("NNT0312: lists of lists that share without bound", "[pickle]") {
  std::string bomb = "]";
  for (int i = 0; i < 60; ++i)
    bomb += "q\x01]h\x01"
            "ah\x01"
            "a";
  CHECK(errorsOf(bomb + ".") == "f: error NNT0312: the pickle in this file is nested or shared without bound\n");
}

TEST_CASE("NNT0312: a shape that is no list of numbers", "[pickle]") {
  std::string wrong = "\x80\x02" + lone() + ".";
  wrong.replace(wrong.find("K\x02\x85"), 3, "N\x85"); // the shape (None,)
  CHECK(errorsOf(wrong) == "f: error NNT0312: tensor \"\": its shape and strides are not lists of numbers\n");
}
