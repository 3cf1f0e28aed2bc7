#include <string>

#include "qkv/tokenizer/tokenizer.hpp"
#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

// The wire format of Protocol Buffers.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7U) bytes += static_cast<char>(0x80U | (value & 0x7FU));
  return bytes += static_cast<char>(value);
}
std::string number(unsigned field, std::uint64_t value) { return varint(field * 8) + varint(value); }
std::string bytes(unsigned field, const std::string& value) {
  return varint(field * 8 + 2) + varint(value.size()) + value;
}
std::string real(unsigned field, float value) {
  return varint(field * 8 + 5) + std::string(reinterpret_cast<const char*>(&value), sizeof(value));
}

std::string piece(const std::string& text, float score, PieceKind kind = PieceKind::normal) {
  auto message = bytes(1, text) + real(2, score);
  if (kind != PieceKind::normal) message += number(3, static_cast<std::uint64_t>(kind));
  return bytes(1, message);
}

const std::string pieces = piece("<unk>", 0, PieceKind::unknown) + piece("<s>", 0, PieceKind::control) +
                           piece("</s>", 0, PieceKind::control) + piece("▁", -1) + piece("a", -2) + piece("▁a", -3);
const std::string is_bpe = bytes(2, number(3, 2));
const std::string keeps_spaces = bytes(3, number(4, 0));

struct Folder {
  TemporaryDirectory directory;

  Tokenizer open(const std::string& model, const json& config = nullptr) const {
    write_file(directory.path() / "tokenizer.model", model);
    if (!config.is_null()) write_file(directory.path() / "tokenizer_config.json", config.dump());
    return *Tokenizer::open(directory.path());
  }
  void refused(const std::string& model, Texts parts, const json& config = nullptr) const {
    parts.push_back(directory.path().string());
    check_refused(
        ErrorCode::model, [&] { (void)open(model, config); }, parts);
  }
};

}  // namespace

TEST_CASE("a SentencePiece model says how spaces are treated", "[tokenizer]") {
  const Folder folder;
  const auto usual = folder.open(pieces + is_bpe);
  CHECK(usual.summary() == "BPE by scores, 6 tokens");
  CHECK(usual.encode("  a   a ", {}) == Ids{5, 5});
  CHECK(usual.encode("   ", {}).empty());
  CHECK(usual.bos() == 1);
  CHECK(usual.eos() == 2);
  const auto kept = folder.open(pieces + is_bpe + keeps_spaces);
  CHECK(kept.encode(" a  a ", {}) == Ids{3, 5, 3, 5, 3});
  CHECK(kept.decode(Ids{3, 5, 3, 5, 3}) == " a  a ");
  const auto plain = folder.open(pieces + is_bpe + bytes(3, number(3, 0) + number(4, 0) + number(5, 0)));
  CHECK(plain.encode("a a", {}) == Ids{4, 0, 4});
  // Without a word on it, the model is a unigram one.
  CHECK(folder.open(pieces).summary() == "Unigram, 6 tokens");
}

TEST_CASE("SentencePiece models that are none", "[tokenizer]") {
  const Folder folder;
  folder.refused("", {"one unknown piece", "found 0"});
  folder.refused(pieces.substr(0, pieces.size() - 1), {"bytes"});
  folder.refused(pieces + "\x13", {"field 2", "the kind 3"});
  folder.refused(pieces + std::string(1, '\0'), {"a field", "the tag 0"});
  folder.refused(pieces + std::string(12, '\xFF'), {"at most 10 bytes"});
  folder.refused(pieces + "\x12\xFF", {"a number", "the end"});
  folder.refused(pieces + number(9, 1), {"field 9", "1 to 5"});
  folder.refused(pieces + number(1, 1), {"field 1", "a message", "the kind 0"});
  folder.refused(pieces + bytes(1, number(1, 1)), {"field 1", "bytes"});
  folder.refused(pieces + bytes(1, bytes(2, "abcd")), {"field 2", "a 32-bit number"});
  folder.refused(pieces + bytes(1, bytes(1, "x") + number(3, 7)), {"field 3", "1 to 6", "7"});
  folder.refused(pieces + piece("a", -9), {"\"a\" twice", "ids 4 and 6"});
  folder.refused(pieces + piece("b", -9, PieceKind::unknown), {"one unknown piece", "found 2"});
  folder.refused(pieces + piece("<0x41>", 0, PieceKind::byte), {"byte_fallback is off", "found 1"});
  folder.refused(pieces + bytes(2, number(35, 1)), {"byte_fallback is on", "256", "found 0"});
  folder.refused(pieces + bytes(2, number(3, 3)), {"model_type", "3 (words)"});
  folder.refused(pieces + bytes(2, number(3, 4)), {"model_type", "4 (characters)"});
  folder.refused(pieces + bytes(2, number(24, 1)), {"treat_whitespace_as_suffix"});
  folder.refused(pieces + bytes(5, bytes(2, "rules")), {"denormalizer_spec", "5 bytes"});
  folder.refused(piece("▁", -1), {"one unknown piece"});
}

TEST_CASE("compiled rules that are none", "[tokenizer]") {
  const Folder folder;
  const auto model = [](const std::string& blob) { return pieces + is_bpe + bytes(3, bytes(2, blob)); };
  folder.refused(model("abc"), {"charsmap", "more than 4 bytes", "3"});
  folder.refused(model(std::string("\x08\0\0\0abcd", 8)), {"charsmap", "whole units in 4 bytes", "found 8"});
  folder.refused(model(std::string("\x03\0\0\0abcd", 8)), {"charsmap", "whole units", "found 3"});
  folder.refused(model(std::string("\0\0\0\0abcd", 8)), {"charsmap", "whole units", "found 0"});
  // A trie for "x": the root leads to unit 'x' ^ 1, whose leaf says where the replacement stands.
  std::string trie(4 * 256, '\0');
  const auto put = [&](std::size_t place, std::uint32_t unit) {
    trie.replace(4 * place, 4, std::string(reinterpret_cast<const char*>(&unit), 4));
  };
  put(0, 1U << 10U);
  put('x' ^ 1U, (2U << 10U) | 0x100U | 'x');
  const std::string size("\0\x04\0\0", 4);
  const auto rules = [&](std::uint32_t value, const std::string& replacements) {
    put('x' ^ 1U ^ 2U, 0x80000000U | value);
    return model(size + trie + replacements);
  };
  CHECK(folder.open(rules(0, std::string("a\0", 2))).encode("x ax", {}) == Ids{5, 5, 4});
  CHECK(folder.open(rules(2, std::string("b\0a", 3))).encode("x", {}) == Ids{5});
  const auto outside = folder.open(rules(9, "a"));
  CHECK(outside.encode("a", {}) == Ids{5});
  check_refused(ErrorCode::model, [&] { (void)outside.encode("x", {}); }, {"charsmap", "1 bytes of replacements", "9"});
  put('x' ^ 1U, (4000U << 10U) | 0x100U | 'x');
  const auto beyond = folder.open(model(size + trie + "a"));
  check_refused(ErrorCode::model, [&] { (void)beyond.encode("x", {}); }, {"charsmap", "256 units"});
}

TEST_CASE("a damaged SentencePiece model is refused or opened, and nothing else", "[tokenizer]") {
  const Folder folder;
  const auto good = pieces + is_bpe + keeps_spaces;
  Numbers numbers(51);
  const auto path = folder.directory.path() / "any.model";
  const auto check = [&](const std::string& model) {
    write_file(path, model);
    try {
      (void)Tokenizer::open_file(path).encode("a  \xFFx<s>", {});
    } catch (const Error& error) {
      CHECK(error.code() == ErrorCode::model);
    }
  };
  for (std::size_t length = 0; length < good.size(); ++length) check(good.substr(0, length));
  for (int round = 0; round < 2000; ++round) {
    auto bad = good;
    for (int i = 0; i < 1 + round % 3; ++i) bad[numbers.bits() % bad.size()] = static_cast<char>(numbers.bits());
    check(bad);
  }
}

TEST_CASE("tokenizer_config.json says what is added, where nothing else does", "[tokenizer]") {
  const Folder folder;
  const auto model = pieces + is_bpe;
  CHECK(folder.open(model).encode("a", {}) == Ids{5});
  CHECK(folder.open(model, json::object()).encode("a", {}) == Ids{5});
  CHECK(folder.open(model, {{"add_bos_token", true}, {"bos_token", "<s>"}}).encode("a", {}) == Ids{1, 5});
  CHECK(folder.open(model, {{"add_bos_token", true}, {"add_eos_token", true}}).encode("a", {}) == Ids{1, 5, 2});
  CHECK(folder.open(model, {{"tokenizer_class", "LlamaTokenizer"}}).encode("a", {}) == Ids{1, 5});
  CHECK(folder.open(model, {{"tokenizer_class", "LlamaTokenizer"}, {"add_bos_token", false}}).encode("a", {}) ==
        Ids{5});
  const auto object = folder.open(
      model,
      {{"add_eos_token", true}, {"eos_token", {{"__type", "AddedToken"}, {"content", "a"}}}, {"bos_token", nullptr}});
  CHECK(object.encode("a", {}) == Ids{5, 4});
  CHECK(object.eos() == 4);
  folder.refused(model, {"tokenizer_config.json", "'bos_token'", "a string"},
                 {{"add_bos_token", true}, {"bos_token", 7}});
  folder.refused(model, {"tokenizer_config.json", "'add_bos_token'"}, {{"add_bos_token", "yes"}});
  folder.refused(model, {"tokenizer_config.json", "eos_token", "'content'"}, {{"eos_token", {{"text", "a"}}}});

  // In a folder with a tokenizer.json whose post-processor says nothing, and one that does.
  auto file = byte_level_file();
  write_file(folder.directory.path() / "tokenizer_config.json",
             json{{"add_bos_token", true}, {"bos_token", "<|end|>"}, {"tokenizer_class", "LlamaTokenizer"}}.dump());
  const auto ids_of = [&] {
    write_file(folder.directory.path() / "tokenizer.json", file.dump());
    return Tokenizer::open(folder.directory.path())->encode("a", {});
  };
  CHECK(ids_of() == Ids{263, 'a'});
  file["added_tokens"] = json::array();
  check_refused(ErrorCode::model, [&] { (void)ids_of(); }, {"'bos_token'", "which is to be added"});
  file = byte_level_file();
  file["post_processor"] = {{"type", "ByteLevel"}, {"trim_offsets", false}};
  CHECK(ids_of() == Ids{263, 'a'});
  file["post_processor"] = {{"type", "TemplateProcessing"},
                            {"single", json::array({{{"Sequence", {{"id", "A"}, {"type_id", 0}}}}})},
                            {"pair", json::array()},
                            {"special_tokens", json::object()}};
  CHECK(ids_of() == Ids{'a'});
}

}  // namespace qkv::test
