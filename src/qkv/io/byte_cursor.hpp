#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "qkv/core/error.hpp"

namespace qkv {

/// Goes through the bytes of a file that nobody trusts, little-endian. What would lie behind the end is refused with
/// Error{model}: "<where>: <what>: expected 8 bytes from byte 24 on, found 3 (the file is cut short)".
class ByteCursor {
 public:
  ByteCursor(std::string where, std::span<const std::byte> bytes, std::size_t position = 0)
      : where_(std::move(where)), bytes_(bytes), position_(position) {}

  [[nodiscard]] std::span<const std::byte> take(std::uint64_t count, std::string_view what) {
    if (count > left())
      throw Error(ErrorCode::model, fmt::format("{}: {}: expected {} bytes from byte {} on, found {} (the file is cut "
                                                "short, or the count is wrong)",
                                                where_, what, count, position_, left()));
    const auto taken = bytes_.subspan(position_, static_cast<std::size_t>(count));
    position_ += taken.size();
    return taken;
  }

  template <typename Number>
  [[nodiscard]] Number number(std::string_view what) {
    Number value{};
    std::memcpy(&value, take(sizeof value, what).data(), sizeof value);
    return value;
  }

  [[nodiscard]] std::string_view text(std::uint64_t length, std::string_view what) {
    const auto taken = take(length, what);
    return {reinterpret_cast<const char*>(taken.data()), taken.size()};
  }

  [[nodiscard]] std::size_t position() const { return position_; }
  [[nodiscard]] std::size_t left() const { return bytes_.size() - position_; }
  [[nodiscard]] const std::string& where() const { return where_; }

 private:
  std::string where_;
  std::span<const std::byte> bytes_;
  std::size_t position_;
};

}  // namespace qkv
