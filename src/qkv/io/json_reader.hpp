#pragma once

#include <cstdint>
#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace qkv {

/// Both ends belong to the range.
struct IntegerRange {
  std::int64_t min = std::numeric_limits<std::int64_t>::min();
  std::int64_t max = std::numeric_limits<std::int64_t>::max();
};
struct NumberRange {
  double min = -std::numeric_limits<double>::max();
  double max = std::numeric_limits<double>::max();
};

/// Parses JSON text. Throws Error{model} that begins with `where` on a syntax error, or on a key given twice in one
/// object when `refuse_duplicates` is set (a plain parser would silently keep one of the two).
[[nodiscard]] nlohmann::json parse_json(std::string_view text, const std::string& where, bool refuse_duplicates = true);

/// One JSON object, read key by key: every error names the file, the key, what was expected and what was found, as
/// Error{model}. A null counts as absent. The reader notes which keys were asked for, so that those nobody
/// understood can be refused by name. Copies share the object and the notes.
class JsonReader {
 public:
  [[nodiscard]] static JsonReader open(const std::filesystem::path& path);
  /// `where` begins every message, for example "model/config.json".
  JsonReader(std::string where, nlohmann::json object) : JsonReader(std::move(where), std::move(object), {}) {}
  /// For an object put together from something else: `spellings` says what messages call a key of it.
  JsonReader(std::string where, nlohmann::json object, std::map<std::string, std::string, std::less<>> spellings);

  [[nodiscard]] const std::string& where() const { return where_; }
  [[nodiscard]] bool has(std::string_view key) const;
  /// Whether the key is there and says null, for publishers to whom that is not the same as leaving it out.
  [[nodiscard]] bool is_null(std::string_view key) const;

  [[nodiscard]] std::int64_t integer(std::string_view key, IntegerRange range) const;
  [[nodiscard]] std::int64_t integer_or(std::string_view key, std::int64_t absent, IntegerRange range) const;
  [[nodiscard]] double number(std::string_view key, NumberRange range) const;
  [[nodiscard]] double number_or(std::string_view key, double absent, NumberRange range) const;
  [[nodiscard]] bool boolean(std::string_view key) const;
  [[nodiscard]] bool boolean_or(std::string_view key, bool absent) const;
  [[nodiscard]] std::string text(std::string_view key) const;
  [[nodiscard]] std::string text_or(std::string_view key, std::string_view absent) const;
  [[nodiscard]] JsonReader object(std::string_view key) const;
  [[nodiscard]] std::optional<JsonReader> object_if(std::string_view key) const;
  /// The objects in an array, each a reader whose messages say which one it is.
  [[nodiscard]] std::vector<JsonReader> objects(std::string_view key) const;
  /// An integer or an array of integers, as `eos_token_id` is written; empty when absent.
  [[nodiscard]] std::vector<std::int64_t> integers(std::string_view key, IntegerRange range) const;

  /// The value itself, for the rare thing that fits none of the above. Throws when absent.
  [[nodiscard]] const nlohmann::json& raw(std::string_view key) const;

  /// Says that a key is known and does not matter here.
  void ignore(std::string_view key) const { seen_->insert(std::string(key)); }
  /// Keys of this object (not of the ones inside it) that nobody asked for.
  [[nodiscard]] std::vector<std::string> unread() const;
  /// Throws Error{model} for the first of them.
  void refuse_unread() const;

  /// Throws Error{model}: "<where>: key 'key': expected <expected>, found <what is there>".
  [[noreturn]] void fail(std::string_view key, std::string_view expected) const;

 private:
  JsonReader(std::string where, std::shared_ptr<const nlohmann::json> root, const nlohmann::json* object);
  [[nodiscard]] const nlohmann::json* find(std::string_view key) const;
  [[nodiscard]] JsonReader child(const std::string& path, const nlohmann::json& object) const;

  std::string where_;
  std::shared_ptr<const nlohmann::json> root_;  // keeps the whole document alive
  const nlohmann::json* object_;
  std::shared_ptr<std::set<std::string>> seen_;
  std::map<std::string, std::string, std::less<>> spellings_;
};

}  // namespace qkv
