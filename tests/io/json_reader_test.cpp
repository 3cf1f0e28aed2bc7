// The reader of one JSON object: each accessor, and each way for a value to be wrong.

#include "qkv/io/json_reader.hpp"

#include <functional>
#include <limits>
#include <string>
#include <string_view>
#include <vector>

#include "support/catch.hpp"
#include "support/refused.hpp"
#include "support/temporary_directory.hpp"

namespace qkv::test {
namespace {

const char* const file_name = "some/config.json";

JsonReader reader_of(std::string_view text) { return {file_name, parse_json(text, file_name)}; }

/// Calls `read` on {"key": VALUE} and checks that it is refused, naming file, key, expectation and finding.
void check_value_refused(const std::string& value, const std::function<void(const JsonReader&)>& read,
                         const std::string& expected) {
  CAPTURE(value);
  const auto reader = reader_of("{\"key\": " + value + "}");
  const auto found = value == "null" ? "nothing" : value;
  check_refused(ErrorCode::model, [&] { read(reader); },
                {file_name, "key 'key'", "expected " + expected, "found", found});
}

void check_absent_refused(const std::function<void(const JsonReader&)>& read) {
  const auto reader = reader_of("{}");
  check_refused(ErrorCode::model, [&] { read(reader); }, {file_name, "key 'key'", "expected", "found nothing"});
}

std::string nested(std::size_t depth) { return std::string(depth, '[') + std::string(depth, ']'); }

}  // namespace

TEST_CASE("an integer is read in its range and refused outside", "[io]") {
  const auto read = [](const JsonReader& reader) { (void)reader.integer("key", {1, 10}); };
  CHECK(reader_of(R"({"key": 1})").integer("key", {1, 10}) == 1);
  CHECK(reader_of(R"({"key": 10})").integer("key", {1, 10}) == 10);
  CHECK(reader_of(R"({"key": -9223372036854775808})").integer("key", {}) == std::numeric_limits<std::int64_t>::min());
  CHECK(reader_of(R"({"key": 9223372036854775807})").integer("key", {}) == std::numeric_limits<std::int64_t>::max());
  for (const auto* value : {"0", "11", "-1", "2.5", "2.0", "\"3\"", "true", "null", "[3]", "{\"a\":3}",
                            "9223372036854775808", "18446744073709551615"})
    check_value_refused(value, read, "an integer from 1 to 10");
  check_value_refused(
      "9223372036854775808", [](const JsonReader& r) { (void)r.integer("key", {}); }, "an integer");
  check_value_refused(
      "4", [](const JsonReader& r) { (void)r.integer("key", {.min = 5}); }, "an integer of at least 5");
  check_value_refused(
      "4.5",
      [](const JsonReader& r) {
        (void)r.integer_or("key", 1, {1, 10});
      },
      "an integer");
  CHECK(reader_of("{}").integer_or("key", 7, {1, 10}) == 7);
  CHECK(reader_of(R"({"key": null})").integer_or("key", 7, {1, 10}) == 7);
  check_absent_refused(read);
}

TEST_CASE("an integer that does not even fit 64 bits without a sign is no integer", "[io]") {
  const auto reader = reader_of(R"({"key": 18446744073709551616})");
  check_refused(ErrorCode::model, [&] { (void)reader.integer("key", {}); }, {file_name, "key 'key'", "found 1.8"});
}

TEST_CASE("a number is read in its range and refused outside", "[io]") {
  const auto read = [](const JsonReader& reader) { (void)reader.number("key", {0.0, 1.5}); };
  CHECK(reader_of(R"({"key": 1})").number("key", {0.0, 1.5}) == 1.0);
  CHECK(reader_of(R"({"key": 1.5})").number("key", {0.0, 1.5}) == 1.5);
  CHECK(reader_of(R"({"key": 1e-5})").number("key", {}) == 1e-5);
  for (const auto* value : {"1.75", "-0.5", "2", "\"1\"", "false", "null", "[1]"})
    check_value_refused(value, read, "a number from 0 to 1.5");
  CHECK(reader_of(R"({"key": null})").number_or("key", 0.25, {0.0, 1.0}) == 0.25);
  check_value_refused(
      "3",
      [](const JsonReader& r) {
        (void)r.number_or("key", 1.0, {0.0, 1.0});
      },
      "a number");
  check_absent_refused(read);
}

TEST_CASE("true and false are read, nothing like them", "[io]") {
  CHECK(reader_of(R"({"key": true})").boolean("key"));
  CHECK_FALSE(reader_of(R"({"key": false})").boolean("key"));
  CHECK(reader_of(R"({"key": null})").boolean_or("key", true));
  CHECK_FALSE(reader_of(R"({"key": false})").boolean_or("key", true));
  const auto read = [](const JsonReader& reader) { (void)reader.boolean("key"); };
  for (const auto* value : {"0", "1", "\"true\"", "null", "[true]"}) check_value_refused(value, read, "true or false");
  check_value_refused(
      "1", [](const JsonReader& r) { (void)r.boolean_or("key", true); }, "true or false");
  check_absent_refused(read);
}

TEST_CASE("a string is read, nothing else", "[io]") {
  CHECK(reader_of(R"({"key": "a\u00e9"})").text("key") == "a\xC3\xA9");
  CHECK(reader_of(R"({"key": null})").text_or("key", "b") == "b");
  const auto read = [](const JsonReader& reader) { (void)reader.text("key"); };
  for (const auto* value : {"0", "true", "null", "[\"a\"]"}) check_value_refused(value, read, "a string");
  check_value_refused(
      "7", [](const JsonReader& r) { (void)r.text_or("key", "b"); }, "a string");
  check_absent_refused(read);
}

TEST_CASE("an object inside says where it is", "[io]") {
  const auto outer = reader_of(R"({"key": {"inner": 5, "more": [{"x": 1}, {"x": "y"}]}})");
  const auto inner = outer.object("key");
  CHECK(inner.integer("inner", {}) == 5);
  check_refused(ErrorCode::model, [&] { (void)inner.text("inner"); },
                {file_name, ": key: key 'inner'", "a string", "found 5"});
  const auto more = inner.objects("more");
  REQUIRE(more.size() == 2);
  CHECK(more[0].integer("x", {}) == 1);
  check_refused(ErrorCode::model, [&] { (void)more[1].integer("x", {}); }, {file_name, "more[1]", "key 'x'", "\"y\""});
  CHECK_FALSE(outer.object_if("other").has_value());
  CHECK_FALSE(reader_of(R"({"key": null})").object_if("key").has_value());
  const auto read = [](const JsonReader& reader) { (void)reader.object("key"); };
  for (const auto* value : {"5", "null", "[1]", "\"a\""}) check_value_refused(value, read, "an object");
  check_value_refused(
      "5", [](const JsonReader& r) { (void)r.object_if("key"); }, "an object");
  check_value_refused(
      "5", [](const JsonReader& r) { (void)r.objects("key"); }, "an array of objects");
  check_refused(ErrorCode::model, [] { (void)reader_of(R"({"key": [{}, 3]})").objects("key"); },
                {file_name, "key[1]", "expected an object", "found 3"});
}

TEST_CASE("integers are one or many", "[io]") {
  using Integers = std::vector<std::int64_t>;
  CHECK(reader_of(R"({"key": 5})").integers("key", {}) == Integers{5});
  CHECK(reader_of(R"({"key": [5, -6]})").integers("key", {}) == Integers{5, -6});
  CHECK(reader_of(R"({"key": []})").integers("key", {}).empty());
  CHECK(reader_of(R"({"key": null})").integers("key", {}).empty());
  CHECK(reader_of("{}").integers("key", {}).empty());
  for (const auto* value : {"[5, -1]", "[5, 2.5]", "[5, \"6\"]", "[5, null]", "[[5]]", "2.5", "-1", "{}"}) {
    CAPTURE(value);
    const auto reader = reader_of(std::string("{\"key\": ") + value + "}");
    check_refused(ErrorCode::model, [&] { (void)reader.integers("key", {.min = 0}); },
                  {file_name, "key 'key'", "expected an integer of at least 0", "found"});
  }
}

TEST_CASE("null counts as absent, everywhere", "[io]") {
  const auto reader = reader_of(R"({"key": null, "other": 0})");
  CHECK_FALSE(reader.has("key"));
  CHECK_FALSE(reader.has("none"));
  CHECK(reader.has("other"));
  check_refused(ErrorCode::model, [&] { (void)reader.raw("key"); }, {file_name, "'key'", "found nothing"});
  CHECK(reader.raw("other") == 0);
}

TEST_CASE("keys that nobody asked for are refused by name", "[io]") {
  const auto reader = reader_of(R"({"a": 1, "b": 2, "c": {"d": 3}, "e": 4})");
  (void)reader.integer("a", {});
  (void)reader.has("c");
  reader.ignore("e");
  CHECK(reader.unread() == std::vector<std::string>{"b"});
  check_refused(ErrorCode::model, [&] { reader.refuse_unread(); }, {file_name, "key 'b'", "no such key", "found 2"});
  const auto copy = reader;
  (void)copy.integer("b", {});
  CHECK(reader.unread().empty());
  CHECK(reader.object("c").unread() == std::vector<std::string>{"d"});
}

TEST_CASE("what is not a JSON object is refused", "[io]") {
  for (const auto* text : {"", "{", "{\"a\": }", "{\"a\": 1,}", "{} x", "nul", "{\"a\": 1e999}", "{\"a\": NaN}",
                           "{'a': 1}", "{\"a\": \"\xFF\"}"}) {
    CAPTURE(text);
    check_refused(ErrorCode::model, [&] { (void)reader_of(text); }, {file_name, "expected JSON", "syntax error"});
  }
  for (const auto* text : {"[]", "5", "\"a\"", "null"}) {
    CAPTURE(text);
    check_refused(ErrorCode::model, [&] { (void)reader_of(text); }, {file_name, "expected a JSON object", text});
  }
}

TEST_CASE("a key that stands there twice is refused, at every depth", "[io]") {
  for (const auto* text : {R"({"twin": 1, "twin": 1})", R"({"a": {"twin": 1, "b": {}, "twin": 2}})",
                           R"({"a": [{"x": 0}, {"twin": 1, "twin": 1}]})"})
    check_refused(ErrorCode::model, [&] { (void)reader_of(text); }, {file_name, "'twin'", "twice"});
  CHECK_NOTHROW(reader_of(R"({"a": {"x": 1}, "b": {"x": 1, "a": [{"x": 1}, {"x": 1}]}})"));
  CHECK(parse_json(R"({"a": 1, "a": 2})", file_name, false).size() == 1);
}

TEST_CASE("a value nested beyond all measure is refused, not followed to the end of the stack", "[io]") {
  const auto text = "{\"key\": " + nested(200'000) + "}";
  check_refused(ErrorCode::model, [&] { (void)reader_of(text).integer("key", {}); }, {file_name});
  CHECK_NOTHROW(reader_of("{\"key\": " + nested(50) + "}"));
}

TEST_CASE("a long value is cut short in a message", "[io]") {
  const auto reader = reader_of("{\"key\": \"" + std::string(10'000, 'x') + "\"}");
  try {
    (void)reader.integer("key", {});
    FAIL("expected an error");
  } catch (const Error& error) {
    CHECK(std::string_view(error.what()).size() < 300);
  }
}

TEST_CASE("a file is read whole, and named when it cannot be", "[io]") {
  const TemporaryDirectory directory;
  const auto path = directory.path() / "a.json";
  check_refused(ErrorCode::model, [&] { (void)JsonReader::open(path); }, {path.string(), "No such file"});
  write_file(path, "");
  check_refused(ErrorCode::model, [&] { (void)JsonReader::open(path); }, {path.string(), "expected JSON"});
  write_file(path, R"({"key": "text"})");
  CHECK(JsonReader::open(path).text("key") == "text");
  check_refused(ErrorCode::model, [&] { (void)JsonReader::open(path).boolean("key"); }, {path.string(), "'key'"});
}

}  // namespace qkv::test
