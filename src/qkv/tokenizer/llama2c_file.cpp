#include <fmt/format.h>

#include <cstring>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/io/mapped_file.hpp"
#include "qkv/tokenizer/parts.hpp"
#include "qkv/tokenizer/piece_table.hpp"

namespace qkv {
namespace {

/// Reads llama2.c's tokenizer.bin: the length of the longest piece, then of each piece its score, its length and its
/// bytes. How many pieces there are, nothing says.
class Llama2cReader {
 public:
  Llama2cReader(std::string_view bytes, const std::string& where) : bytes_(bytes), where_(where) {}

  ScoredPieces run() {
    constexpr std::int32_t longest_sane = 1 << 16;
    const auto longest = read<std::int32_t>("the length of the longest piece");
    if (longest < 1 || longest > longest_sane)
      refuse(fmt::format("the length of the longest piece, 1 to {}", longest_sane), fmt::format("{}", longest));
    ScoredPieces pieces;
    while (at_ < bytes_.size()) {
      ScoredPiece piece;
      piece.score = read<float>("a score");
      const auto length = read<std::int32_t>("the length of a piece");
      if (length < 0 || length > longest)
        refuse(fmt::format("the length of piece {}, 0 to {}", pieces.size(), longest), fmt::format("{}", length));
      piece.text = take(static_cast<std::size_t>(length), "a piece");
      pieces.push_back(std::move(piece));
    }
    return pieces;
  }

 private:
  std::string_view take(std::size_t length, std::string_view what) {
    if (bytes_.size() - at_ < length)
      refuse(fmt::format("{} of {} bytes", what, length), fmt::format("{} bytes", bytes_.size() - at_));
    const auto taken = bytes_.substr(at_, length);
    at_ += length;
    return taken;
  }

  template <typename Number>
  Number read(std::string_view what) {
    Number number{};
    std::memcpy(&number, take(sizeof(Number), what).data(), sizeof(Number));
    return number;
  }

  [[noreturn]] void refuse(std::string_view expected, std::string_view found) const {
    throw Error(ErrorCode::model, fmt::format("{}: byte {}: expected {}, found {}", where_, at_, expected, found));
  }

  std::string_view bytes_;
  const std::string& where_;
  std::size_t at_ = 0;
};

}  // namespace

std::unique_ptr<Tokenizer::Parts> Tokenizer::Parts::from_llama2c(std::string_view bytes, const std::string& where) {
  auto pieces = Llama2cReader(bytes, where).run();
  // The file does not say what the pieces are for; the program that it was made for knows these three.
  constexpr std::size_t n_special = 3;
  if (pieces.size() < n_special)
    throw Error(ErrorCode::model,
                fmt::format("{}: expected at least {} pieces (unknown, begin and end of text), found {}", where,
                            n_special, pieces.size()));
  for (auto& piece : pieces)
    if (tokenizing::byte_of_piece(piece.text) >= 0) piece.kind = PieceKind::byte;
  pieces[0].kind = PieceKind::unknown;
  for (std::size_t i = 1; i < n_special; ++i) {
    auto& piece = pieces[i];
    piece.kind = PieceKind::control;
    // Written with line ends around them, so that they show up when they are printed.
    if (piece.text.size() > 2 && piece.text.front() == '\n' && piece.text.back() == '\n')
      piece.text = piece.text.substr(1, piece.text.size() - 2);
  }
  return from_pieces(pieces, {.bos = 1, .eos = 2, .unknown = 0, .escape_spaces = false}, where);
}

}  // namespace qkv
