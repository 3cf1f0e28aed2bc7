#include "qkv/io/json_reader.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/io/json_error.hpp"
#include "qkv/io/mapped_file.hpp"

namespace qkv {
namespace {

using nlohmann::json;

constexpr int deepest_nesting = 200;

/// What a value is, short enough for one line.
std::string describe(const json& value) {
  constexpr std::size_t longest = 60;
  auto text = value.dump(-1, ' ', false, json::error_handler_t::replace);
  if (text.size() > longest) text = text.substr(0, whole_characters(std::string_view(text).substr(0, longest))) + "...";
  return value.is_primitive() ? text : fmt::format("the {} {}", value.type_name(), text);
}

/// Whether brackets stand inside each other deeper than in any real file. The parser itself would go on, but whoever
/// then copies or prints the value follows it until the stack is used up.
bool nests_too_deep(std::string_view text) {
  int depth = 0;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto c = text[i];
    if (quoted && c == '\\')
      ++i;
    else if (c == '"')
      quoted = !quoted;
    else if (!quoted && (c == '[' || c == '{') && ++depth > deepest_nesting)
      return true;
    else if (!quoted && (c == ']' || c == '}'))
      --depth;
  }
  return false;
}

/// Watches the parser for keys that come twice in one object.
class DuplicateWatch {
 public:
  explicit DuplicateWatch(const std::string& where) : where_(where) {}

  bool operator()(int, json::parse_event_t event, json& parsed) {
    if (event == json::parse_event_t::object_start) {
      open_.emplace_back();
    } else if (event == json::parse_event_t::object_end) {
      open_.pop_back();
    } else if (event == json::parse_event_t::key) {
      const auto& key = parsed.get_ref<const std::string&>();
      if (!open_.back().insert(key).second)
        throw Error(ErrorCode::model, fmt::format("{}: key '{}' stands there twice", where_, key));
    }
    return true;
  }

 private:
  const std::string& where_;
  std::vector<std::set<std::string>> open_;
};

}  // namespace

json parse_json(std::string_view text, const std::string& where, bool refuse_duplicates) {
  if (nests_too_deep(text))
    throw Error(ErrorCode::model,
                fmt::format("{}: expected JSON nested at most {} deep, found more", where, deepest_nesting));
  try {
    if (!refuse_duplicates) return json::parse(text);
    DuplicateWatch watch(where);
    return json::parse(text, std::ref(watch));
  } catch (const json::exception& e) {
    throw Error(ErrorCode::model, fmt::format("{}: expected JSON, found a syntax error: {}", where, problem_of(e)));
  }
}

JsonReader JsonReader::open(const std::filesystem::path& path) {
  const MappedFile file(path);
  const auto bytes = file.bytes();
  const std::string_view text(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  return {path.string(), parse_json(text, path.string())};
}

JsonReader::JsonReader(std::string where, json object, std::map<std::string, std::string, std::less<>> spellings)
    : where_(std::move(where)),
      root_(std::make_shared<const json>(std::move(object))),
      object_(root_.get()),
      seen_(std::make_shared<std::set<std::string>>()),
      spellings_(std::move(spellings)) {
  if (!object_->is_object())
    throw Error(ErrorCode::model, fmt::format("{}: expected a JSON object, found {}", where_, describe(*object_)));
}

JsonReader::JsonReader(std::string where, std::shared_ptr<const json> root, const json* object)
    : where_(std::move(where)),
      root_(std::move(root)),
      object_(object),
      seen_(std::make_shared<std::set<std::string>>()) {}

JsonReader JsonReader::child(const std::string& path, const json& object) const {
  return {fmt::format("{}: {}", where_, path), root_, &object};
}

const json* JsonReader::find(std::string_view key) const {
  const auto found = object_->find(key);
  seen_->insert(std::string(key));
  return found == object_->end() || found->is_null() ? nullptr : &*found;
}

bool JsonReader::has(std::string_view key) const { return find(key) != nullptr; }

bool JsonReader::is_null(std::string_view key) const {
  const auto found = object_->find(key);
  return found != object_->end() && found->is_null();
}

void JsonReader::fail(std::string_view key, std::string_view expected) const {
  const auto* value = find(key);
  const auto spelling = spellings_.find(key);
  throw Error(ErrorCode::model, fmt::format("{}: key '{}': expected {}, found {}", where_,
                                            spelling == spellings_.end() ? key : std::string_view(spelling->second),
                                            expected, value == nullptr ? "nothing" : describe(*value)));
}

const json& JsonReader::raw(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr) fail(key, "a value");
  return *value;
}

std::int64_t JsonReader::integer(std::string_view key, IntegerRange range) const {
  const auto expected = [&] {
    if (range.min == std::numeric_limits<std::int64_t>::min()) return std::string("an integer");
    return range.max == std::numeric_limits<std::int64_t>::max()
               ? fmt::format("an integer of at least {}", range.min)
               : fmt::format("an integer from {} to {}", range.min, range.max);
  };
  const auto* value = find(key);
  if (value == nullptr || !value->is_number_integer()) fail(key, expected());
  if (value->is_number_unsigned() && value->get<std::uint64_t>() > std::numeric_limits<std::int64_t>::max())
    fail(key, expected());
  const auto number = value->get<std::int64_t>();
  if (number < range.min || number > range.max) fail(key, expected());
  return number;
}

std::int64_t JsonReader::integer_or(std::string_view key, std::int64_t absent, IntegerRange range) const {
  return has(key) ? integer(key, range) : absent;
}

double JsonReader::number(std::string_view key, NumberRange range) const {
  const auto* value = find(key);
  const auto expected = [&] { return fmt::format("a number from {} to {}", range.min, range.max); };
  if (value == nullptr || !value->is_number()) fail(key, expected());
  const auto number = value->get<double>();
  if (!std::isfinite(number) || number < range.min || number > range.max) fail(key, expected());
  return number;
}

double JsonReader::number_or(std::string_view key, double absent, NumberRange range) const {
  return has(key) ? number(key, range) : absent;
}

bool JsonReader::boolean(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr || !value->is_boolean()) fail(key, "true or false");
  return value->get<bool>();
}

bool JsonReader::boolean_or(std::string_view key, bool absent) const { return has(key) ? boolean(key) : absent; }

std::string JsonReader::text(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr || !value->is_string()) fail(key, "a string");
  return value->get<std::string>();
}

std::string JsonReader::text_or(std::string_view key, std::string_view absent) const {
  return has(key) ? text(key) : std::string(absent);
}

JsonReader JsonReader::object(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr || !value->is_object()) fail(key, "an object");
  return child(std::string(key), *value);
}

std::optional<JsonReader> JsonReader::object_if(std::string_view key) const {
  if (!has(key)) return std::nullopt;
  return object(key);
}

std::vector<JsonReader> JsonReader::objects(std::string_view key) const {
  const auto* value = find(key);
  if (value == nullptr || !value->is_array()) fail(key, "an array of objects");
  std::vector<JsonReader> readers;
  for (const auto& element : *value) {
    const auto path = fmt::format("{}[{}]", key, readers.size());
    if (!element.is_object())
      throw Error(ErrorCode::model,
                  fmt::format("{}: {}: expected an object, found {}", where_, path, describe(element)));
    readers.push_back(child(path, element));
  }
  return readers;
}

std::vector<std::int64_t> JsonReader::integers(std::string_view key, IntegerRange range) const {
  const auto* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_array()) return {integer(key, range)};
  std::vector<std::int64_t> numbers;
  for (const auto& element : *value) {
    const JsonReader one(where_, json{{std::string(key), element}}, spellings_);
    numbers.push_back(one.integer(key, range));
  }
  return numbers;
}

std::vector<std::string> JsonReader::unread() const {
  std::vector<std::string> keys;
  for (const auto& item : object_->items())
    if (seen_->count(item.key()) == 0) keys.push_back(item.key());
  return keys;
}

void JsonReader::refuse_unread() const {
  for (const auto& key : unread())
    if (has(key)) fail(key, "no such key");
}

}  // namespace qkv
