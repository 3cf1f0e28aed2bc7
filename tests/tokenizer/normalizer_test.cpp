#include "qkv/tokenizer/normalizer.hpp"

#include <string>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

using nlohmann::json;

std::string normal(const json& object, const std::string& text) {
  return tokenizing::make_normalizer(reader_of(object))->apply(text, tokenizing::most_normal_bytes(text.size()));
}

std::string form(const std::string& type, const std::string& text) { return normal({{"type", type}}, text); }

}  // namespace

TEST_CASE("the normal forms compose and decompose", "[tokenizer]") {
  const std::string composed = "\u00e9";
  const std::string decomposed = "e\u0301";
  CHECK(form("NFC", "caf" + decomposed + "s") == "caf" + composed + "s");
  CHECK(form("NFC", decomposed) == composed);
  CHECK(form("NFD", "caf" + composed) == "caf" + decomposed);
  CHECK(form("NFKC", "\ufb01x\u2460") == "fix1");
  CHECK(form("NFC", "\ufb01") == "\ufb01");
  CHECK(form("NFKD", "\ufb01\u00e9") == "fie\u0301");
  CHECK(form("NFD", "\uac01") == "\u1100\u1161\u11a8");
  // Marks take the order of their classes: the one below comes first.
  CHECK(form("NFD", "a\u0302\u0323") == "a\u0323\u0302");
  CHECK(form("NFC", "") == "");
  // One character that becomes eighteen.
  CHECK(form("NFKC", "\ufdfa").size() == 33);
}

TEST_CASE("normal forms leave bytes alone that are not UTF-8, and NUL", "[tokenizer]") {
  CHECK(form("NFC",
             "\xFF"
             "e\u0301\xC3") == "\xFF\u00e9\xC3");
  CHECK(form("NFC", std::string("e\0\u0301", 4)) == std::string("e\0\u0301", 4));
  CHECK(form("Lowercase",
             "A\xFF\xC9"
             "B") ==
        "a\xFF\xC9"
        "b");
}

TEST_CASE("lower case and accents", "[tokenizer]") {
  CHECK(form("Lowercase", "HELLO Ünï ΑΣ") == "hello ünï ασ");
  CHECK(form("Lowercase", "\u0130") == "i\u0307");
  CHECK(form("StripAccents", "e\u0301a\u0323\u0302\u00e9") == "ea\u00e9");
}

TEST_CASE("prepend leaves empty text empty", "[tokenizer]") {
  const json prepend{{"type", "Prepend"}, {"prepend", "▁"}};
  CHECK(normal(prepend, "a") == "▁a");
  CHECK(normal(prepend, "") == "");
}

TEST_CASE("replace finds strings and expressions", "[tokenizer]") {
  CHECK(normal({{"type", "Replace"}, {"pattern", {{"String", "aa"}}}, {"content", "b"}}, "aaaa.a") == "bb.a");
  CHECK(normal({{"type", "Replace"}, {"pattern", {{"String", "."}}}, {"content", ""}}, "a.b.") == "ab");
  CHECK(normal({{"type", "Replace"}, {"pattern", {{"Regex", "\\s+"}}}, {"content", " "}}, "a \t\u00a0 b") == "a b");
  CHECK(normal({{"type", "Replace"}, {"pattern", {{"String", "x"}}}, {"content", "y"}}, "unchanged") == "unchanged");
}

TEST_CASE("strip takes white space of any kind from the wanted ends", "[tokenizer]") {
  const std::string text = " \n\u3000 a b \u2028\t";
  CHECK(normal({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}}, text) == "a b");
  CHECK(normal({{"type", "Strip"}, {"strip_left", true}, {"strip_right", false}}, text) == "a b \u2028\t");
  CHECK(normal({{"type", "Strip"}, {"strip_left", false}, {"strip_right", true}}, text) == " \n\u3000 a b");
  CHECK(normal({{"type", "Strip"}, {"strip_left", true}, {"strip_right", true}}, " \n ") == "");
}

TEST_CASE("a sequence applies its parts in order", "[tokenizer]") {
  const json lower_then_replace{
      {"type", "Sequence"},
      {"normalizers",
       {{{"type", "Lowercase"}}, {{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", "B"}}}}};
  CHECK(normal(lower_then_replace, "Aa") == "BB");
  CHECK(normal({{"type", "ByteLevel"}}, "a \xFF") == "aĠÿ");
}

TEST_CASE("rules that would make terabytes of a word are refused", "[tokenizer]") {
  const auto check_sequence_refused = [](const json& part, int times, const std::string& text) {
    const json sequence{{"type", "Sequence"}, {"normalizers", json::array_t(static_cast<std::size_t>(times), part)}};
    check_refused(ErrorCode::model, [&] { (void)normal(sequence, text); }, {"normalizer", "at most", "bytes"});
  };
  const json longer{{"type", "Replace"}, {"pattern", {{"String", "a"}}}, {"content", std::string(1000, 'a')}};
  check_sequence_refused(longer, 5, "a");
  check_sequence_refused({{"type", "ByteLevel"}}, 60, "\xFF");
  check_sequence_refused({{"type", "Prepend"}, {"prepend", std::string(100'000, 'a')}}, 20, "a");
  // One that is fed with all the text has room for what rules write in earnest.
  CHECK(normal(longer, std::string(1000, 'a')).size() == 1'000'000);
  CHECK(form("NFKD", std::string(300'000, ' ') + "\uFDFA").size() == 300'033);
}

}  // namespace qkv::test
