#include "qkv/tokenizer/tokenizer.hpp"

#include <algorithm>
#include <string>
#include <thread>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {

using nlohmann::json;

TEST_CASE("any bytes come back from a byte-level vocabulary", "[tokenizer]") {
  auto digits_file = byte_level_file();
  digits_file["pre_tokenizer"] = {{"type", "Sequence"},
                                  {"pretokenizers",
                                   {{{"type", "Split"},
                                     {"pattern", {{"Regex", "\\p{L}+|\\s+(?!\\S)|\\d{1,3}"}}},
                                     {"behavior", "Isolated"},
                                     {"invert", false}},
                                    {{"type", "ByteLevel"}, {"add_prefix_space", false}, {"use_regex", false}}}}};
  Numbers numbers(1);
  for (const auto& file : {byte_level_file(), digits_file}) {
    const auto tokenizer = tokenizer_of(file);
    for (int round = 0; round < 2000; ++round) {
      const auto bytes = random_bytes(numbers, 120);
      CHECK(tokenizer.decode(tokenizer.encode(bytes, {true, round % 2 == 0}), true) == bytes);
    }
  }
}

TEST_CASE("any bytes come back from a vocabulary with byte tokens", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(llama_file());
  Numbers numbers(2);
  for (int round = 0; round < 2000; ++round) {
    auto bytes = random_bytes(numbers, 120);
    // The mark itself cannot be told from a space.
    if (bytes.find("▁") != std::string::npos) continue;
    CHECK(tokenizer.decode(tokenizer.encode(bytes, {})) == bytes);
  }
}

TEST_CASE("what a byte-level tokenizer says about itself", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(byte_level_file());
  CHECK(tokenizer.size() == 264);
  CHECK(tokenizer.summary() == "BPE, 264 tokens, byte-level");
  CHECK(tokenizer.piece(262) == "Ġwor");
  CHECK(tokenizer.bytes(262) == " wor");
  CHECK(tokenizer.bytes(0xC3) == "\xC3");
  CHECK(tokenizer.bytes(263) == "<|end|>");
  CHECK(tokenizer.find("Ġwor") == 262);
  CHECK(tokenizer.find("<|end|>") == 263);
  CHECK_FALSE(tokenizer.find("nothing").has_value());
  CHECK(tokenizer.is_special(263));
  CHECK_FALSE(tokenizer.is_special(262));
  CHECK_FALSE(tokenizer.is_special(-1));
  CHECK_FALSE(tokenizer.is_special(9999));
  CHECK(tokenizer.encode("hello world", {}) == Ids{259, 262, 'l', 'd'});
  CHECK(tokenizer.encode("", {}).empty());
  CHECK(tokenizer.decode(Ids{}) == "");
}

TEST_CASE("what a Llama tokenizer says about itself", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(llama_file());
  CHECK(tokenizer.summary() == "BPE with byte fallback, 271 tokens");
  CHECK(tokenizer.bytes(266) == " a");
  CHECK(tokenizer.bytes(3 + 0xFF) == "\xFF");
  CHECK(tokenizer.piece(3 + 0xFF) == "<0xFF>");
  CHECK(tokenizer.bytes(1) == "<s>");
}

TEST_CASE("special tokens are added by the tokenizer's own rule", "[tokenizer]") {
  auto file = llama_file();
  const auto tokenizer = tokenizer_of(file);
  CHECK(tokenizer.encode("a", {}) == Ids{1, 266});
  CHECK(tokenizer.encode("a", {false, false}) == Ids{266});
  CHECK(tokenizer.encode("", {}) == Ids{1});
  CHECK(tokenizer.encode("<s>", {true, true}) == Ids{1, 1});
  CHECK(tokenizer.encode("<s>", {true, false}).size() > 2);
  file["post_processor"]["single"].push_back({{"SpecialToken", {{"id", "both"}, {"type_id", 0}}}});
  file["post_processor"]["special_tokens"]["both"] = {{"id", "both"}, {"ids", {2, 1}}, {"tokens", {"</s>", "<s>"}}};
  CHECK(tokenizer_of(file).encode("a", {}) == Ids{1, 266, 2, 1});
  const auto one = file["post_processor"];
  file["post_processor"] = {{"type", "Sequence"},
                            {"processors", {{{"type", "ByteLevel"}, {"trim_offsets", false}}, one}}};
  CHECK(tokenizer_of(file).encode("a", {}) == Ids{1, 266, 2, 1});
}

TEST_CASE("special tokens are decoded only when they are wanted", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(llama_file());
  CHECK(tokenizer.decode(Ids{1, 266, 266, 2}) == "a a");
  CHECK(tokenizer.decode(Ids{1, 266, 266, 2}, true) == "<s> a a</s>");
  CHECK(tokenizer.decode(Ids{259, 259, 260}) == " a");
}

TEST_CASE("an unknown id is refused", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(byte_level_file());
  for (const TokenId id : {-1, 264, 0x7FFFFFFF}) {
    const auto number = std::to_string(id);
    check_refused(ErrorCode::input, [&] { (void)tokenizer.decode(Ids{1, id}); }, {"0 to 263", number});
    check_refused(ErrorCode::input, [&] { (void)tokenizer.piece(id); }, {number});
    check_refused(ErrorCode::input, [&] { (void)tokenizer.bytes(id); }, {number});
    StreamDecoder stream(tokenizer);
    check_refused(ErrorCode::input, [&] { (void)stream.push(id); }, {number});
  }
}

TEST_CASE("ids may be far apart at no cost", "[tokenizer]") {
  auto file = byte_level_file();
  file["model"]["vocab"]["zz"] = 2147483646;
  file["added_tokens"].push_back(added_token("far", 2000000000));
  const auto tokenizer = tokenizer_of(file);
  CHECK(tokenizer.size() == 2147483647U);
  CHECK(tokenizer.piece(2147483646) == "zz");
  CHECK(tokenizer.encode("far", {true, true}) == Ids{2000000000});
  CHECK(tokenizer.decode(Ids{'a', 2147483646}) == "azz");
  check_refused(ErrorCode::input, [&] { (void)tokenizer.piece(1000000); }, {"1000000"});
}

TEST_CASE("GPT-2's two files are a tokenizer too", "[tokenizer]") {
  const TemporaryDirectory directory;
  CHECK_FALSE(Tokenizer::open(directory.path()).has_value());
  auto vocab = byte_level_file()["model"]["vocab"];
  vocab["<|endoftext|>"] = 263;
  write_file(directory.path() / "vocab.json", vocab.dump());
  check_refused(ErrorCode::model, [&] { (void)Tokenizer::open(directory.path()); }, {"merges.txt", "vocab.json alone"});
  write_file(directory.path() / "merges.txt", "#version: 0.2\nh e\r\nl l\nhe ll\nhell o\n\nĠ w\no r\nĠw or\n");
  const auto tokenizer = Tokenizer::open(directory.path());
  REQUIRE(tokenizer.has_value());
  CHECK(tokenizer->encode("hello world<|endoftext|>", {true, true}) == Ids{259, 262, 'l', 'd', 263});
  CHECK(tokenizer->decode(Ids{259, 262, 'l', 'd', 263}) == "hello world");
  CHECK(tokenizer->summary() == "BPE, 264 tokens, byte-level");
  // tokenizer.json comes first where there is one.
  write_file(directory.path() / "tokenizer.json", llama_file().dump());
  CHECK(Tokenizer::open(directory.path())->size() == 271);
}

TEST_CASE("many threads may use one tokenizer", "[tokenizer]") {
  const auto tokenizer = tokenizer_of(byte_level_file());
  const auto expected = tokenizer.encode("hello world", {});
  std::vector<int> good(4, 0);
  std::vector<std::thread> threads;
  for (auto& count : good)
    threads.emplace_back([&] {
      for (int i = 0; i < 200; ++i)
        count += tokenizer.encode("hello world", {}) == expected && tokenizer.decode(expected) == "hello world" ? 1 : 0;
    });
  for (auto& thread : threads) thread.join();
  CHECK(good == std::vector<int>(4, 200));
}

}  // namespace qkv::test
