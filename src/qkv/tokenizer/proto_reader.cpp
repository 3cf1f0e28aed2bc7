#include "qkv/tokenizer/proto_reader.hpp"

#include <fmt/format.h>

#include <cstring>
#include <limits>
#include <utility>

#include "qkv/core/error.hpp"

namespace qkv::tokenizing {

ProtoReader::ProtoReader(std::string_view bytes, std::string where, std::size_t offset)
    : all_(bytes), where_(std::move(where)), offset_(offset) {}

void ProtoReader::refuse(std::string_view expected, std::string_view found) const {
  throw Error(ErrorCode::model, fmt::format("{}: byte {}: field {}: expected {}, found {}", where_, offset_ + at_,
                                            number_, expected, found));
}

std::uint64_t ProtoReader::read_varint() {
  std::uint64_t value = 0;
  for (unsigned shift = 0; shift < 64; shift += 7) {
    if (at_ == all_.size()) refuse("a number", "the end");
    const auto byte = static_cast<unsigned char>(all_[at_++]);
    value |= std::uint64_t{byte & 0x7FU} << shift;
    if (byte < 0x80) return value;
  }
  refuse("a number of at most 10 bytes", "a longer one");
}

std::string_view ProtoReader::take(std::uint64_t length) {
  if (length > all_.size() - at_) refuse(fmt::format("{} bytes", length), fmt::format("{} bytes", all_.size() - at_));
  const auto taken = all_.substr(at_, static_cast<std::size_t>(length));
  at_ += static_cast<std::size_t>(length);
  return taken;
}

bool ProtoReader::next() {
  if (at_ == all_.size()) return false;
  const auto tag = read_varint();
  if (tag >> 3U == 0 || tag >> 3U > std::numeric_limits<std::uint32_t>::max() / 8)
    refuse("a field", fmt::format("the tag {}", tag));
  number_ = static_cast<std::uint32_t>(tag >> 3U);
  wire_ = static_cast<std::uint32_t>(tag & 7U);
  switch (wire_) {
    case varint:
      value_ = read_varint();
      break;
    case fixed64:
      bytes_ = take(sizeof(std::uint64_t));
      break;
    case length_delimited:
      bytes_ = take(read_varint());
      break;
    case fixed32:
      bytes_ = take(sizeof(std::uint32_t));
      break;
    default:
      refuse("a number, bytes or a message", fmt::format("the kind {}", wire_));
  }
  return true;
}

void ProtoReader::expect(std::uint32_t wire, std::string_view name) const {
  if (wire_ != wire) refuse(name, fmt::format("the kind {}", wire_));
}

std::int64_t ProtoReader::integer() const {
  expect(varint, "a number");
  return static_cast<std::int64_t>(value_);
}

float ProtoReader::real() const {
  expect(fixed32, "a 32-bit number");
  float number = 0;
  std::memcpy(&number, bytes_.data(), sizeof(number));
  return number;
}

std::string_view ProtoReader::bytes() const {
  expect(length_delimited, "bytes");
  return bytes_;
}

ProtoReader ProtoReader::message() const {
  expect(length_delimited, "a message");
  return {bytes_, where_, offset_ + at_ - bytes_.size()};
}

}  // namespace qkv::tokenizing
