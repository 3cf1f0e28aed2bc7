#include "qkv/inspect/writers/picture_labels.hpp"

#include "support/catch.hpp"

namespace qkv::picture {
namespace {

TEST_CASE("entries are called by their tokens, components by their numbers", "[inspect]") {
  TableDescription table;
  table.tokens = {{7, "The"}, {8, " dog"}, {9, ""}};
  const Axis key{"key", {0, 1, 2}};
  CHECK(entry_label(table, key, 1, 18) == "\u2423dog");
  CHECK(entry_label(table, key, 2, 18) == "id 9");  // a token without bytes
  const Axis dimension{"dimension", {0, 1, 2}};
  CHECK(entry_label(table, dimension, 1, 18) == "1");
  const Axis beyond{"key", {5}};
  CHECK(entry_label(table, beyond, 0, 18) == "5");  // more entries than tokens
  CHECK(axis_title({"query", {}}) == "query (asks)");
  CHECK(axis_title({"key", {}}) == "key (is asked)");
}

}  // namespace
}  // namespace qkv::picture
