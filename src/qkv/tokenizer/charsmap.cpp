#include "qkv/tokenizer/charsmap.hpp"

#include <fmt/format.h>

#include <cstring>

#include "qkv/core/error.hpp"

namespace qkv::tokenizing {
namespace {

// A unit of the trie: what it says lies in these bits.
bool has_leaf(std::uint32_t unit) { return ((unit >> 8U) & 1U) != 0; }
std::uint32_t value_of(std::uint32_t unit) { return unit & 0x7FFFFFFFU; }
std::uint32_t label_of(std::uint32_t unit) { return unit & 0x800000FFU; }
std::uint32_t offset_of(std::uint32_t unit) { return (unit >> 10U) << ((unit & 0x200U) >> 6U); }

}  // namespace

Charsmap::Charsmap(std::string_view blob, const std::string& where) : where_(where) {
  std::uint32_t n_bytes = 0;
  if (blob.size() <= sizeof(n_bytes)) refuse("more than 4 bytes", blob.size());
  std::memcpy(&n_bytes, blob.data(), sizeof(n_bytes));
  blob.remove_prefix(sizeof(n_bytes));
  if (n_bytes == 0 || n_bytes % sizeof(std::uint32_t) != 0 || n_bytes > blob.size())
    refuse(fmt::format("a trie of whole units in {} bytes", blob.size()), n_bytes);
  units_.resize(n_bytes / sizeof(std::uint32_t));
  std::memcpy(units_.data(), blob.data(), n_bytes);
  replacements_ = blob.substr(n_bytes);
}

void Charsmap::refuse(std::string_view expected, std::size_t found) const {
  throw Error(ErrorCode::model, fmt::format("{}: expected {}, found {}", where_, expected, found));
}

template <typename Each>
void Charsmap::for_each_prefix(std::string_view text, Each&& each) const {
  if (units_.empty()) return;
  const auto unit_at = [&](std::uint32_t place) {
    if (place >= units_.size()) refuse(fmt::format("a place in a trie of {} units", units_.size()), place);
    return units_[place];
  };
  auto place = offset_of(units_.front());
  for (std::size_t at = 0; at < text.size() && text[at] != '\0'; ++at) {
    const std::uint32_t byte = static_cast<unsigned char>(text[at]);
    place ^= byte;
    // A text may leave the trie before the first unit of a branch that is not there.
    if (place >= units_.size() || label_of(units_[place]) != byte) return;
    const auto unit = units_[place];
    place ^= offset_of(unit);
    if (has_leaf(unit) && !each(at + 1, value_of(unit_at(place)))) return;
  }
}

Charsmap::Rule Charsmap::rule(std::size_t length, std::uint32_t value) const {
  if (value > replacements_.size())
    refuse(fmt::format("a place in {} bytes of replacements", replacements_.size()), value);
  const auto rest = std::string_view(replacements_).substr(value);
  return {length, rest.substr(0, rest.find('\0'))};
}

std::optional<Charsmap::Rule> Charsmap::shortest(std::string_view text) const {
  std::optional<Rule> found;
  for_each_prefix(text, [&](std::size_t length, std::uint32_t value) {
    found = rule(length, value);
    return false;
  });
  return found;
}

std::optional<Charsmap::Rule> Charsmap::longest(std::string_view text) const {
  std::optional<Rule> found;
  for_each_prefix(text, [&](std::size_t length, std::uint32_t value) {
    found = rule(length, value);
    return true;
  });
  return found;
}

}  // namespace qkv::tokenizing
