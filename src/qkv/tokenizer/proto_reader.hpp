#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace qkv::tokenizing {

/// Goes through the fields of one message in the wire format of Protocol Buffers, in the order of the bytes.
class ProtoReader {
 public:
  /// `where` begins every message of an Error{model}; `offset` is where in the file `bytes` stands.
  ProtoReader(std::string_view bytes, std::string where, std::size_t offset = 0);

  /// Steps to the next field; false at the end. Throws Error{model} for bytes that are no field.
  [[nodiscard]] bool next();

  [[nodiscard]] std::uint32_t number() const { return number_; }
  /// The value of the field. Throws Error{model} when it is written as something else.
  [[nodiscard]] std::int64_t integer() const;
  [[nodiscard]] bool boolean() const { return integer() != 0; }
  [[nodiscard]] float real() const;
  [[nodiscard]] std::string_view bytes() const;
  [[nodiscard]] ProtoReader message() const;

  [[noreturn]] void refuse(std::string_view expected, std::string_view found) const;

 private:
  enum Wire : std::uint32_t { varint = 0, fixed64 = 1, length_delimited = 2, fixed32 = 5 };
  [[nodiscard]] std::uint64_t read_varint();
  [[nodiscard]] std::string_view take(std::uint64_t length);
  void expect(std::uint32_t wire, std::string_view name) const;

  std::string_view all_;
  std::string where_;
  std::size_t offset_;
  std::size_t at_ = 0;
  std::uint32_t number_ = 0;
  std::uint32_t wire_ = 0;
  std::uint64_t value_ = 0;
  std::string_view bytes_;
};

}  // namespace qkv::tokenizing
