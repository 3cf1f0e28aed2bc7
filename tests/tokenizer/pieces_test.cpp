#include <algorithm>
#include <fstream>
#include <map>
#include <sstream>
#include <string>

#include "qkv/core/utf8.hpp"
#include "qkv/tokenizer/tokenizer.hpp"
#include "support/catch.hpp"
#include "support/reference.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"
#include "tokenizer/sample.hpp"

namespace qkv::test {
namespace {

/// "<unk>" 0, "<s>" 1, "</s>" 2, then the bytes when they are wanted, then `texts` with scores 0, -1, -2, ...
ScoredPieces sample_pieces(const Texts& texts, bool bytes) {
  ScoredPieces pieces{
      {"<unk>", 0, PieceKind::unknown}, {"<s>", 0, PieceKind::control}, {"</s>", 0, PieceKind::control}};
  for (unsigned byte = 0; bytes && byte < 256; ++byte)
    pieces.push_back({fmt::format("<0x{:02X}>", byte), 0, PieceKind::byte});
  float score = 0;
  for (const auto& text : texts) pieces.push_back({text, score--, PieceKind::normal});
  return pieces;
}

const Texts letters{"▁a", "ab", "▁ab", "aa", "▁", "a", "b", "c"};
const PieceOptions usual{.bos = 1, .eos = 2, .unknown = 0};

Tokenizer with(const ScoredPieces& pieces, const PieceOptions& options = usual) {
  return Tokenizer::from_pieces(pieces, options, "sample");
}

/// The rule as it is written down: look at all neighbours, join the best, begin again.
Ids slow_encode(const ScoredPieces& pieces, std::string text) {
  for (std::size_t at = 0; (at = text.find(' ', at)) != std::string::npos;) text.replace(at, 1, "▁");
  if (!text.empty()) text.insert(0, "▁");
  std::map<std::string, TokenId> ids;
  for (std::size_t i = 3; i < pieces.size(); ++i) ids[pieces[i].text] = static_cast<TokenId>(i);
  Texts parts;
  for (std::size_t at = 0; at < text.size(); at += parts.back().size())
    parts.push_back(text.substr(at, utf8_next(text, at).length));
  while (true) {
    std::optional<std::size_t> best;
    for (std::size_t i = 0; i + 1 < parts.size(); ++i) {
      const auto found = ids.find(parts[i] + parts[i + 1]);
      if (found == ids.end()) continue;
      const auto score_of = [&](std::size_t at) {
        return pieces[static_cast<std::size_t>(ids.at(parts[at] + parts[at + 1]))].score;
      };
      if (!best || score_of(i) > score_of(*best)) best = i;
    }
    if (!best) break;
    parts[*best] += parts[*best + 1];
    parts.erase(parts.begin() + static_cast<std::ptrdiff_t>(*best) + 1);
  }
  Ids encoded;
  for (const auto& part : parts) {
    const auto found = ids.find(part);
    if (found != ids.end())
      encoded.push_back(found->second);
    else if (encoded.empty() || encoded.back() != 0)
      encoded.push_back(0);
  }
  return encoded;
}

std::string bytes_of(std::int32_t longest, const ScoredPieces& pieces) {
  std::string bytes(reinterpret_cast<const char*>(&longest), sizeof(longest));
  for (const auto& piece : pieces) {
    const auto length = static_cast<std::int32_t>(piece.text.size());
    bytes.append(reinterpret_cast<const char*>(&piece.score), sizeof(piece.score));
    bytes.append(reinterpret_cast<const char*>(&length), sizeof(length)).append(piece.text);
  }
  return bytes;
}

}  // namespace

TEST_CASE("pieces are joined by score", "[tokenizer]") {
  const auto tokenizer = with(sample_pieces(letters, false));
  // ▁a 3, ab 4, ▁ab 5, aa 6, ▁ 7, a 8, b 9, c 10
  CHECK(tokenizer.encode("ab", {}) == Ids{1, 5});
  CHECK(tokenizer.encode("aab", {}) == Ids{1, 3, 4});
  CHECK(tokenizer.encode("caaa", {false, false}) == Ids{7, 10, 6, 8});
  CHECK(tokenizer.encode("", {}) == Ids{1});
  CHECK(tokenizer.encode("cxyc", {false, false}) == Ids{7, 10, 0, 10});
  CHECK(tokenizer.decode(tokenizer.encode(" ab  c", {})) == " ab  c");
  CHECK(tokenizer.summary() == "BPE by scores, 11 tokens");
  CHECK(tokenizer.encode("<s>", {true, true}) == Ids{1, 1});
  CHECK(tokenizer.encode("<s>", {false, false}) == Ids{7, 0});
  CHECK(tokenizer.is_special(1));
}

TEST_CASE("of equal scores the leftmost pieces are joined", "[tokenizer]") {
  auto pieces = sample_pieces({"a", "b", "aa", "ba", "ab", "▁"}, false);
  for (auto& piece : pieces) piece.score = -1;
  const auto tokenizer = with(pieces);
  CHECK(tokenizer.encode("aaa", {false, false}) == Ids{8, 5, 3});
  CHECK(tokenizer.encode("bab", {false, false}) == Ids{8, 6, 4});
  CHECK(tokenizer.encode("abaa", {false, false}) == Ids{8, 7, 5});
}

TEST_CASE("joining by score gives what the plain rule gives", "[tokenizer]") {
  Numbers numbers(31);
  constexpr std::string_view alphabet = "abc ";
  const auto random_text = [&](std::size_t longest) {
    std::string text(1 + numbers.bits() % longest, ' ');
    for (auto& letter : text) letter = alphabet[numbers.bits() % alphabet.size()];
    return text;
  };
  for (int round = 0; round < 60; ++round) {
    auto pieces = sample_pieces({"▁", "a", "b"}, false);
    for (int i = 0; i < 25; ++i) {
      auto text = random_text(5);
      std::replace(text.begin(), text.end(), ' ', '_');
      for (std::size_t at = 0; (at = text.find('_', at)) != std::string::npos;) text.replace(at, 1, "▁");
      const auto is_same = [&](const auto& piece) { return piece.text == text; };
      if (std::none_of(pieces.begin(), pieces.end(), is_same))
        pieces.push_back({text, -static_cast<float>(numbers.bits() % 12), PieceKind::normal});
    }
    const auto tokenizer = with(pieces);
    for (int i = 0; i < 40; ++i) {
      const auto text = random_text(i < 30 ? 40 : 200);
      CAPTURE(text, round);
      CHECK(tokenizer.encode(text, {false, false}) == slow_encode(pieces, text));
    }
  }
}

TEST_CASE("any bytes come back from pieces with bytes", "[tokenizer]") {
  auto pieces = sample_pieces(letters, true);
  const auto escaped = with(pieces);
  for (auto& piece : pieces)
    if (piece.kind == PieceKind::normal && piece.text.find("▁") == 0) piece.text.replace(0, 3, " ");
  auto options = usual;
  options.escape_spaces = false;
  const auto plain = with(pieces, options);
  CHECK(plain.summary() == "BPE by scores with byte fallback, 267 tokens");
  Numbers numbers(32);
  for (int round = 0; round < 1000; ++round) {
    const auto bytes = random_bytes(numbers, 200);
    CHECK(plain.decode(plain.encode(bytes, {})) == bytes);
    // The mark itself cannot be told from a space.
    if (bytes.find("▁") == std::string::npos) CHECK(escaped.decode(escaped.encode(bytes, {})) == bytes);
  }
}

TEST_CASE("user-defined and unused pieces", "[tokenizer]") {
  auto pieces = sample_pieces(letters, false);
  pieces.push_back({"aaa", -20, PieceKind::user_defined});  // 11
  const auto defined = with(pieces);
  CHECK(defined.encode("aaaab", {false, false}) == Ids{7, 11, 4});
  CHECK(defined.encode("aaaaaaa", {false, false}) == Ids{7, 11, 11, 8});
  pieces[4].kind = PieceKind::unused;  // "ab": on the way to "▁ab", and taken apart elsewhere
  pieces.pop_back();
  const auto unused = with(pieces);
  CHECK(unused.encode("ab", {false, false}) == Ids{5});
  CHECK(unused.encode("cab", {false, false}) == Ids{7, 10, 8, 9});
}

TEST_CASE("what is added around pieces", "[tokenizer]") {
  const auto pieces = sample_pieces(letters, false);
  auto options = usual;
  options.add_eos = true;
  CHECK(with(pieces, options).encode("c", {}) == Ids{1, 7, 10, 2});
  options.add_bos = false;
  CHECK(with(pieces, options).encode("c", {}) == Ids{7, 10, 2});
  options.add_dummy_prefix = false;
  const auto tokenizer = with(pieces, options);
  CHECK(tokenizer.encode("c", {}) == Ids{10, 2});
  CHECK(tokenizer.decode(Ids{3, 3}) == " a a");
  options.unknown.reset();
  CHECK(with(pieces, options).encode("x", {}) == Ids{0, 2});
}

TEST_CASE("pieces that contradict", "[tokenizer]") {
  const auto refused = [](const ScoredPieces& pieces, const PieceOptions& options, Texts parts) {
    parts.push_back("sample");
    check_refused(
        ErrorCode::model, [&] { (void)with(pieces, options); }, parts);
  };
  const auto good = sample_pieces(letters, true);
  auto pieces = good;
  pieces[9].text = "<0xG1>";
  refused(pieces, usual, {"piece 9", "<0xG1>"});
  pieces = good;
  pieces[9].text = pieces[10].text;
  refused(pieces, usual, {"ids 9 and 10"});
  for (const float score : {std::numeric_limits<float>::quiet_NaN(), -std::numeric_limits<float>::infinity()}) {
    pieces = good;
    pieces[260].score = score;
    refused(pieces, usual, {"piece 260", "finite"});
  }
  refused({}, usual, {"at least one piece"});
  refused(good, {.bos = 267}, {"'bos'", "0 to 266", "267"});
  refused(good, {.bos = 1, .eos = -1}, {"'eos'", "-1"});
  refused(good, {.bos = 1, .unknown = 1000}, {"'unknown'", "1000"});
  refused(good, {}, {"'add_bos'"});
  refused(good, {.bos = 1, .add_eos = true}, {"'add_eos'"});
}

TEST_CASE("llama2.c's tokenizer.bin", "[tokenizer]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "tokenizer.bin";
  auto pieces = sample_pieces({" a", "ab", " ab", " ", "a", "b"}, true);
  pieces[1].text = "\n<s>\n";
  const auto good = bytes_of(6, pieces);
  write_file(path, good);
  const auto tokenizer = Tokenizer::open_file(path);
  CHECK(tokenizer.encode("ab ac", {}) == Ids{1, 261, 259, 3 + 'c'});
  CHECK(tokenizer.decode(Ids{1, 261, 259, 3 + 'c'}) == "ab ac");
  CHECK(tokenizer.piece(1) == "<s>");
  CHECK(tokenizer.encode("<s>", {false, true}) == Ids{1});

  const auto refused = [&](const std::string& bytes, Texts parts) {
    write_file(path, bytes);
    parts.push_back(path.string());
    check_refused(
        ErrorCode::model, [&] { (void)Tokenizer::open_file(path); }, parts);
  };
  refused("", {"found none"});
  refused("\x7F\x45\x4C\x46", {"found none"});
  refused(good.substr(0, 3), {"found none"});
  refused(good.substr(0, 6), {"byte 4", "a score of 4 bytes", "2 bytes"});
  refused(good.substr(0, 10), {"byte 8", "the length of a piece"});
  refused(good.substr(0, good.size() - 1), {"a piece of 1 bytes", "0 bytes"});
  refused(bytes_of(6, {}), {"at least 3 pieces", "found 0"});
  refused(bytes_of(0, pieces), {"longest piece", "found 0"});
  refused(bytes_of(70000, pieces), {"longest piece", "70000"});
  refused(bytes_of(4, pieces), {"the length of piece 0, 0 to 4", "5"});
  pieces[5].text = pieces[6].text;
  refused(bytes_of(6, pieces), {"ids 5 and 6"});
}

TEST_CASE("a tokenizer.bin is its tokenizer.json", "[tokenizer]") {
  const auto reference = reference_directory();
  if (!reference || !std::filesystem::exists(*reference / "real" / "llama2c")) {
    WARN("skipped: no reference directory with llama2.c's files");
    return;
  }
  const auto real = *reference / "real";
  const auto one = Tokenizer::open_file(real / "llama2c" / "tok512.bin");
  const auto other = Tokenizer::open(real / "stories260K-hf");
  REQUIRE(other.has_value());
  Numbers numbers(33);
  for (int round = 0; round < 2000; ++round) {
    const auto bytes = random_bytes(numbers, 200);
    if (bytes.find("▁") != std::string::npos) continue;
    const auto ids = one.encode(bytes, {});
    CHECK(ids == other->encode(bytes, {}));
    CHECK(one.decode(ids) == bytes);
  }
}

TEST_CASE("Llama 2's pieces give the ids of its tokenizer.json", "[tokenizer]") {
  const auto reference = reference_directory();
  const auto folder = reference ? *reference / "real" / "tokenizers" / "llama2" : std::filesystem::path();
  if (!reference || !std::filesystem::exists(folder)) {
    WARN("skipped: no reference directory with Llama 2's tokenizer");
    return;
  }
  std::ifstream file(folder / "tokenizer.json");
  const auto model = nlohmann::json::parse(file)["model"];
  // As in its tokenizer.model: the earlier a piece is made, the better.
  std::map<std::string, float> scores;
  for (const auto& merge : model["merges"]) {
    auto made = merge.is_array() ? merge[0].get<std::string>() + merge[1].get<std::string>() : merge.get<std::string>();
    if (!merge.is_array()) made.erase(made.find(' '), 1);
    scores.emplace(made, -static_cast<float>(scores.size()));
  }
  ScoredPieces pieces(model["vocab"].size());
  for (const auto& [text, id] : model["vocab"].items()) {
    const auto i = id.get<std::size_t>();
    const auto found = scores.find(text);
    constexpr std::size_t first_normal = 259;
    pieces[i] = {text, found == scores.end() ? -1e9F : found->second,
                 i < 3              ? PieceKind::control
                 : i < first_normal ? PieceKind::byte
                                    : PieceKind::normal};
  }
  pieces[0].kind = PieceKind::unknown;
  const auto one = with(pieces);
  const auto other = Tokenizer::open(folder);
  REQUIRE(other.has_value());
  const auto golden = *reference / "real" / "tokenizers" / "golden";
  for (const auto* name : {"strings.jsonl", "llamacpp_inp.jsonl"}) {
    std::ifstream texts(golden / name);
    for (std::string line; std::getline(texts, line);) {
      CAPTURE(line);
      const auto text = nlohmann::json::parse(line).get<std::string>();
      CHECK(one.encode(text, {}) == other->encode(text, {}));
    }
  }
  Numbers numbers(34);
  for (int round = 0; round < 2000; ++round) {
    const auto bytes = random_bytes(numbers, 200);
    CHECK(one.encode(bytes, {}) == other->encode(bytes, {}));
  }
}

}  // namespace qkv::test
