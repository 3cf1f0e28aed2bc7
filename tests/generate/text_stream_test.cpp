// Text as it streams: whole characters only, and in the end every byte.

#include "qkv/generate/text_stream.hpp"

#include <string>
#include <vector>

#include "support/catch.hpp"

namespace qkv::test {
namespace {

/// The embedded vocabulary spells what it has never seen byte by byte.
Tokenizer bytewise_tokenizer() {
  return *Tokenizer::open(std::filesystem::path(QKV_SOURCE_DIR) / "models" / "nursery");
}

}  // namespace

TEST_CASE("a character that is split over tokens is held until it is whole", "[generate]") {
  const auto tokenizer = bytewise_tokenizer();
  const std::string text = "a 😀é你 b";
  const auto ids = tokenizer.encode(text, {.add_special = false});
  REQUIRE(ids.size() > 8);
  TextStream stream(tokenizer, {}, {});
  std::string shown;
  bool held = false;
  for (const auto id : ids) {
    const auto piece = stream.push(id);
    held = held || piece.empty();
    CHECK(is_valid_utf8(piece));
    shown += piece;
  }
  CHECK(held);
  CHECK(shown + stream.finish() == text);
}

TEST_CASE("what never becomes a character is written at the end all the same", "[generate]") {
  const auto tokenizer = bytewise_tokenizer();
  const std::string text = "x\xF0\x9F\x98";
  TextStream stream(tokenizer, {}, {});
  std::string shown;
  for (const auto id : tokenizer.encode(text, {.add_special = false})) shown += stream.push(id);
  CHECK(shown == "x");
  CHECK(stream.finish() == "\xF0\x9F\x98");
}

TEST_CASE("a stop text over several tokens is found, and the prompt is not searched", "[generate]") {
  const auto tokenizer = bytewise_tokenizer();
  const auto prompt = tokenizer.encode("the end. ", {.add_special = false});
  TextStream stream(tokenizer, prompt, {"the end"});
  CHECK(stream.prompt_text() == "the end. ");
  std::string shown;
  for (const auto id : tokenizer.encode("This is the end of it", {.add_special = false})) {
    shown += stream.push(id);
    if (stream.stopped()) break;
  }
  CHECK(stream.stopped());
  CHECK(shown == "This is ");
  CHECK(stream.finish().empty());
}

}  // namespace qkv::test
