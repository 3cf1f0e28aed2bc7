#include "qkv/tokenizer/decoder.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

std::string decoded(const json& object, const Texts& tokens, bool inner = false) {
  const auto decoder = tokenizing::make_decoder(reader_of(object));
  tokenizing::DecodeRun run(*decoder, inner);
  for (const auto& token : tokens) run.push(token, false);
  run.finish();
  return run.take();
}

json sequence(const json& decoders) { return {{"type", "Sequence"}, {"decoders", decoders}}; }

json strip(int start, int stop) { return {{"type", "Strip"}, {"content", " "}, {"start", start}, {"stop", stop}}; }

const json fuse{{"type", "Fuse"}};

}  // namespace

TEST_CASE("the byte-level decoder turns symbols into bytes", "[tokenizer]") {
  const json byte_level{{"type", "ByteLevel"}, {"add_prefix_space", true}, {"trim_offsets", true}, {"use_regex", true}};
  CHECK(decoded(byte_level, {"Hello", "Ġworld", "Ċ"}) == "Hello world\n");
  CHECK(decoded(byte_level, {"Ã", "©", "ÿ"}) == "\xC3\xA9\xFF");
  // Not of the alphabet: it is its own text.
  CHECK(decoded(byte_level, {"a b", "日"}) == "a b日");
}

TEST_CASE("byte tokens become exactly their bytes", "[tokenizer]") {
  const json fallback{{"type", "ByteFallback"}};
  CHECK(decoded(fallback, {"<0xC3>", "<0xA9>", "a"}) ==
        "\xC3\xA9"
        "a");
  CHECK(decoded(fallback, {"<0xFF>", "<0x00>"}) == std::string("\xFF\0", 2));
  CHECK(decoded(fallback, {"<0xG0>", "<0x0>", "<0x000>", "(0x00>", "<0x00 "}) == "<0xG0><0x0><0x000>(0x00><0x00 ");
}

TEST_CASE("replace and metaspace", "[tokenizer]") {
  CHECK(decoded({{"type", "Replace"}, {"pattern", {{"String", "▁"}}}, {"content", " "}}, {"▁a▁", "b"}) == " a b");
  const json always{{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}, {"split", true}};
  CHECK(decoded(always, {"▁a", "▁b▁c"}) == "a b c");
  CHECK(decoded(always, {"▁a"}, true) == " a");
  const json never{{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "never"}};
  CHECK(decoded(never, {"▁a", "▁b"}) == " a b");
}

TEST_CASE("strip works on each token, or on the text once it is fused", "[tokenizer]") {
  CHECK(decoded(strip(1, 0), {" a", "  b", "c "}) == "a bc ");
  CHECK(decoded(sequence({fuse, strip(1, 0)}), {" a", " b"}) == "a b");
  CHECK(decoded(sequence({fuse, strip(1, 0)}), {"", " ", " b"}) == " b");
  CHECK(decoded(sequence({fuse, strip(2, 0)}), {" ", " ", " b"}) == " b");
  CHECK(decoded(sequence({fuse, strip(0, 2)}), {"a ", " ", " "}) == "a ");
  CHECK(decoded(sequence({fuse, strip(1, 1)}), {" "}) == "");
  CHECK(decoded(strip(0, 1), {"a ", "b  "}) == "ab ");
  // Inside a larger text nothing is taken.
  CHECK(decoded(sequence({fuse, strip(1, 0)}), {" a"}, true) == " a");
  const json mark{{"type", "Strip"}, {"content", "▁"}, {"start", 1}, {"stop", 0}};
  CHECK(decoded(sequence({fuse, mark}), {"\xE2\x96", "\x81▁"}) == "▁");
  CHECK(decoded(sequence({fuse, mark}), {"\xE2\x96", "x"}) == "\xE2\x96x");
}

TEST_CASE("after fusing, a replacement may reach over two tokens", "[tokenizer]") {
  const json replace{{"type", "Replace"}, {"pattern", {{"String", "ab"}}}, {"content", "x"}};
  CHECK(decoded(sequence({fuse, replace}), {"a", "b"}) == "x");
  CHECK(decoded(sequence({replace, fuse}), {"a", "b"}) == "ab");
}

TEST_CASE("without a decoder, tokens have a space between", "[tokenizer]") {
  auto file = byte_level_file();
  file["decoder"] = nullptr;
  const auto tokenizer = tokenizer_of(file);
  CHECK(tokenizer.decode(Ids{'a', 'b', 'c'}) == "a b c");
  CHECK(tokenizer.bytes('a') == "a");
}

TEST_CASE("streaming gives what decoding gives", "[tokenizer]") {
  Numbers numbers(3);
  auto stop_file = llama_file();
  stop_file["decoder"]["decoders"].push_back({{"type", "Strip"}, {"content", "a"}, {"start", 0}, {"stop", 2}});
  auto meta_file = llama_file();
  meta_file["decoder"] = {{"type", "Metaspace"}, {"replacement", "▁"}, {"prepend_scheme", "always"}};
  auto joined_file = llama_file();
  joined_file["decoder"] = nullptr;
  for (const auto& file : {byte_level_file(), llama_file(), stop_file, meta_file, joined_file}) {
    const auto tokenizer = tokenizer_of(file);
    for (int round = 0; round < 300; ++round) {
      Ids ids(numbers.bits() % 12);
      // Among the last ids are the interesting ones: marks, merged pieces, added tokens.
      const auto n = static_cast<std::uint32_t>(tokenizer.size());
      for (auto& id : ids) id = static_cast<TokenId>(round % 2 == 0 ? numbers.bits() % n : n - 1 - numbers.bits() % 14);
      if (!ids.empty() && round % 3 == 0) ids[0] = 1;
      const bool with_special = round % 5 == 0;
      StreamDecoder stream(tokenizer, with_special);
      for (int again = 0; again < 2; ++again) {
        std::string text;
        for (const auto id : ids) text += stream.push(id);
        text += stream.finish();
        CAPTURE(ids);
        CHECK(text == tokenizer.decode(ids, with_special));
      }
    }
  }
}

TEST_CASE("streaming holds nothing back without need", "[tokenizer]") {
  const auto llama = tokenizer_of(llama_file());
  StreamDecoder stream(llama);
  CHECK(stream.push(266) == "a");  // "▁a", less the first space
  CHECK(stream.push(266) == " a");
  CHECK(stream.push(3 + 0xC3) == "\xC3");
  CHECK(stream.finish().empty());
}

TEST_CASE("rules that would make terabytes of a token are refused", "[tokenizer]") {
  const json longer{{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(1000, 'a')}};
  CHECK(decoded(sequence({longer, longer}), {"a"}).size() == 1'000'000);
  check_refused(ErrorCode::model,
                [&] {
                  (void)decoded(sequence({longer, longer, longer, longer}), {"a"});
                },
                {"decoder", "at most", "bytes of a token"});
}

}  // namespace qkv::test
