#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace qkv {

/// Appends `bits` as characters of the base64 alphabet (A-Z a-z 0-9 + /), six bits each, most significant first.
void put_base64(std::uint32_t bits, int characters, std::string& text);

/// Base64 (RFC 4648, section 4) of bytes that come one by one.
class Base64 {
 public:
  void put(unsigned char byte, std::string& text);
  /// Writes what is left, padded with '=', and begins anew.
  void finish(std::string& text);

 private:
  std::uint32_t bits_ = 0;
  int bytes_ = 0;
};

[[nodiscard]] std::string to_base64(std::string_view bytes);

}  // namespace qkv
