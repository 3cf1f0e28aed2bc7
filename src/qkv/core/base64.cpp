#include "qkv/core/base64.hpp"

namespace qkv {

void put_base64(std::uint32_t bits, int characters, std::string& text) {
  constexpr std::string_view alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  for (int shift = 6 * (characters - 1); shift >= 0; shift -= 6)
    text += alphabet[(bits >> static_cast<unsigned>(shift)) & 63U];
}

void Base64::put(unsigned char byte, std::string& text) {
  bits_ = (bits_ << 8U) | byte;
  if (++bytes_ < 3) return;
  put_base64(bits_, 4, text);
  bits_ = 0;
  bytes_ = 0;
}

void Base64::finish(std::string& text) {
  if (bytes_ == 1) {
    put_base64(bits_ << 4U, 2, text);
    text += "==";
  } else if (bytes_ == 2) {
    put_base64(bits_ << 2U, 3, text);
    text += '=';
  }
  bits_ = 0;
  bytes_ = 0;
}

std::string to_base64(std::string_view bytes) {
  std::string text;
  text.reserve((bytes.size() + 2) / 3 * 4);
  Base64 base64;
  for (const auto byte : bytes) base64.put(static_cast<unsigned char>(byte), text);
  base64.finish(text);
  return text;
}

}  // namespace qkv
