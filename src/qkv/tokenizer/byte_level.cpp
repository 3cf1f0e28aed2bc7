#include "qkv/tokenizer/byte_level.hpp"

#include <array>
#include <cstdint>

#include "qkv/core/utf8.hpp"

namespace qkv::tokenizing {
namespace {

constexpr std::size_t n_bytes = 256;
constexpr std::size_t n_shifted = 68;  // bytes that are not printable Latin-1

struct Alphabet {
  std::array<std::uint16_t, n_bytes> codepoint{};        // byte -> character
  std::array<std::int16_t, n_bytes + n_shifted> byte{};  // character -> byte, -1 for none
};

constexpr Alphabet make_alphabet() {
  Alphabet alphabet;
  for (auto& byte : alphabet.byte) byte = -1;
  std::uint16_t next = n_bytes;
  for (std::size_t byte = 0; byte < n_bytes; ++byte) {
    const bool printable = (byte >= 0x21 && byte <= 0x7E) || (byte >= 0xA1 && byte <= 0xAC) || byte >= 0xAE;
    alphabet.codepoint[byte] = printable ? static_cast<std::uint16_t>(byte) : next++;
    alphabet.byte[alphabet.codepoint[byte]] = static_cast<std::int16_t>(byte);
  }
  return alphabet;
}

constexpr Alphabet alphabet = make_alphabet();
static_assert(alphabet.codepoint[' '] == 0x120 && alphabet.codepoint[0xAD] == n_bytes + n_shifted - 1);

}  // namespace

void append_spelling(std::string& spelled, std::string_view bytes) {
  for (const char byte : bytes) {
    const std::uint32_t codepoint = alphabet.codepoint[static_cast<unsigned char>(byte)];
    if (codepoint < 0x80) {
      spelled += static_cast<char>(codepoint);
    } else {
      spelled += static_cast<char>(0xC0U | (codepoint >> 6U));
      spelled += static_cast<char>(0x80U | (codepoint & 0x3FU));
    }
  }
}

std::optional<std::string> spelled_bytes(std::string_view spelled) {
  std::string bytes;
  bytes.reserve(spelled.size());
  for (std::size_t at = 0; at < spelled.size();) {
    const auto step = utf8_next(spelled, at);
    const auto codepoint = static_cast<std::size_t>(step.codepoint);
    if (step.codepoint < 0 || codepoint >= alphabet.byte.size() || alphabet.byte[codepoint] < 0) return std::nullopt;
    bytes += static_cast<char>(alphabet.byte[codepoint]);
    at += step.length;
  }
  return bytes;
}

}  // namespace qkv::tokenizing
