#include "qkv/io/tensor_pickle.hpp"

#include <fmt/format.h>

#include <array>
#include <deque>
#include <optional>
#include <set>
#include <unordered_map>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/core/utf8.hpp"
#include "qkv/io/byte_cursor.hpp"

namespace qkv {
namespace {

// What no model reaches. Together they keep the memory that a pickle can ask for in proportion to its length.
constexpr std::size_t longest_pickle = std::size_t{1} << 24U;
constexpr std::size_t longest_name = 200;
constexpr std::size_t most_dimensions = 64;
constexpr std::size_t most_tensors = std::size_t{1} << 18U;  // with their storages; a few bytes can ask for a kilobyte

/// What may be named.
enum class Global { ordered_dict, rebuild_tensor, rebuild_parameter, storage };
struct KnownGlobal {
  std::string_view module;
  std::string_view name;
  Global global;
  DType dtype = DType::f32;  // of a storage
};
constexpr std::array<KnownGlobal, 13> known_globals{{{"collections", "OrderedDict", Global::ordered_dict},
                                                     {"torch._utils", "_rebuild_tensor_v2", Global::rebuild_tensor},
                                                     {"torch._utils", "_rebuild_parameter", Global::rebuild_parameter},
                                                     {"torch", "FloatStorage", Global::storage, DType::f32},
                                                     {"torch", "HalfStorage", Global::storage, DType::f16},
                                                     {"torch", "BFloat16Storage", Global::storage, DType::bf16},
                                                     {"torch", "DoubleStorage", Global::storage, DType::f64},
                                                     {"torch", "LongStorage", Global::storage, DType::i64},
                                                     {"torch", "IntStorage", Global::storage, DType::i32},
                                                     {"torch", "ShortStorage", Global::storage, DType::i16},
                                                     {"torch", "CharStorage", Global::storage, DType::i8},
                                                     {"torch", "ByteStorage", Global::storage, DType::u8},
                                                     {"torch", "BoolStorage", Global::storage, DType::boolean}}};

/// A value on the stack. They refer to each other by pointers into one store, so that neither sharing nor depth nor a
/// dictionary that holds itself costs more than what stands in the file.
struct Value {
  enum class Kind { mark, boolean, integer, text, tuple, dictionary, global, storage, tensor };
  Kind kind = Kind::mark;
  std::int64_t integer = 0;
  std::string_view text;
  std::vector<const Value*> items;  // of a tuple; keys and values by turns of a dictionary
  const KnownGlobal* global = nullptr;
  const PickledTensor* tensor = nullptr;  // of a storage only what belongs to that
};
using Kind = Value::Kind;

std::string_view name_of(Kind kind) {
  constexpr std::array<std::string_view, 9> names{"a mark",       "a boolean", "an integer", "a text",  "a tuple",
                                                  "a dictionary", "a name",    "a storage",  "a tensor"};
  return names[static_cast<std::size_t>(kind)];
}

class PickleReader {
 public:
  PickleReader(std::span<const std::byte> pickle, const std::string& where) : cursor_(where, pickle) {}

  std::vector<PickledTensor> run() {
    if (cursor_.left() > longest_pickle)
      fail(fmt::format("at most {} bytes", longest_pickle), fmt::format("{}", cursor_.left()));
    if (opcode() != 0x80 || cursor_.number<std::uint8_t>("protocol") != 2) fail("a pickle of protocol 2", "another");
    while (step(opcode())) {
    }
    if (cursor_.left() > 0) fail("the end of the pickle", fmt::format("{} bytes more", cursor_.left()));
    const auto* whole = pop(Kind::dictionary);
    if (!stack_.empty()) fail("one dictionary", "more values");
    return tensors_of(*whole);
  }

 private:
  [[noreturn]] void fail(std::string_view expected, std::string_view found) const {
    throw Error(ErrorCode::model,
                fmt::format("{}: byte {}: expected {}, found {}", cursor_.where(), at_, expected, found));
  }

  std::uint8_t opcode() {
    at_ = cursor_.position();
    return cursor_.number<std::uint8_t>("opcode");
  }

  /// One opcode; false for the last.
  bool step(std::uint8_t code) {
    switch (code) {
      case '.':
        return false;
      case '(':
        push(Kind::mark);
        break;
      case 'q':
        remember(cursor_.number<std::uint8_t>("memo"));
        break;
      case 'r':
        remember(cursor_.number<std::uint32_t>("memo"));
        break;
      case 'h':
        recall(cursor_.number<std::uint8_t>("memo"));
        break;
      case 'j':
        recall(cursor_.number<std::uint32_t>("memo"));
        break;
      case 'c':
        push_global();
        break;
      case 'Q':
        push_storage();
        break;
      case 'R':
        reduce();
        break;
      case 'b':
        build();
        break;
      case 's':
        set_items(pop_last(2));
        break;
      case 'u':
        set_items(pop_to_mark());
        break;
      default:
        push_plain(code);
    }
    return true;
  }

  /// Opcodes that only make a value.
  void push_plain(std::uint8_t code) {
    switch (code) {
      case 'X':
        push_text(cursor_.number<std::uint32_t>("text"));
        break;
      case 'K':
        push_integer(Kind::integer, cursor_.number<std::uint8_t>("integer"));
        break;
      case 'M':
        push_integer(Kind::integer, cursor_.number<std::uint16_t>("integer"));
        break;
      case 'J':
        push_integer(Kind::integer, cursor_.number<std::int32_t>("integer"));
        break;
      case 0x8A:
        push_long(cursor_.number<std::uint8_t>("integer"));
        break;
      case 0x88:
      case 0x89:
        push_integer(Kind::boolean, code == 0x88 ? 1 : 0);
        break;
      case '}':
        push(Kind::dictionary);
        break;
      case ')':
        push_tuple({});
        break;
      case 0x85:
      case 0x86:
      case 0x87:
        push_tuple(pop_last(static_cast<std::size_t>(code - 0x84)));
        break;
      case 't':
        push_tuple(pop_to_mark());
        break;
      default:
        fail("only opcodes that make tensors", fmt::format("opcode {:#04x}", code));
    }
  }

  Value& push(Kind kind) {
    stack_.push_back(&store_.emplace_back());
    stack_.back()->kind = kind;
    return *stack_.back();
  }
  void push_integer(Kind kind, std::int64_t integer) { push(kind).integer = integer; }
  void push_tuple(std::vector<const Value*> items) { push(Kind::tuple).items = std::move(items); }

  void push_text(std::uint32_t length) {
    const auto text = cursor_.text(length, "text");
    if (!is_valid_utf8(text)) fail("a text in UTF-8", fmt::format("'{}'", escape_controls(text.substr(0, 100))));
    push(Kind::text).text = text;
  }

  /// Two's complement in as few bytes as it takes.
  void push_long(std::uint8_t length) {
    if (length > 8) fail("an integer of at most 8 bytes", fmt::format("{}", length));
    std::uint64_t bits = 0;
    const auto bytes = cursor_.take(length, "integer");
    for (std::size_t i = 0; i < bytes.size(); ++i) bits |= std::to_integer<std::uint64_t>(bytes[i]) << 8 * i;
    const bool negative = length > 0 && length < 8 && (bits >> (8U * length - 1U) & 1U) != 0;
    if (negative) bits |= ~std::uint64_t{0} << 8U * length;
    push_integer(Kind::integer, static_cast<std::int64_t>(bits));
  }

  Value* pop() {
    if (stack_.empty()) fail("a value on the stack", "none");
    auto* value = stack_.back();
    stack_.pop_back();
    return value;
  }
  Value* pop(Kind kind) {
    auto* value = pop();
    if (value->kind != kind) fail(name_of(kind), name_of(value->kind));
    return value;
  }
  std::vector<const Value*> pop_last(std::size_t count) {
    std::vector<const Value*> items(count);
    for (auto i = count; i-- > 0;) {
      items[i] = pop();
      if (items[i]->kind == Kind::mark) fail("a value", "a mark");
    }
    return items;
  }
  std::vector<const Value*> pop_to_mark() {
    auto begin = stack_.size();
    while (begin > 0 && stack_[begin - 1]->kind != Kind::mark) --begin;
    if (begin == 0) fail("a mark on the stack", "none");
    std::vector<const Value*> items(stack_.begin() + static_cast<std::ptrdiff_t>(begin), stack_.end());
    stack_.resize(begin - 1);
    return items;
  }

  void remember(std::uint32_t number) {
    if (stack_.empty() || stack_.back()->kind == Kind::mark) fail("a value to remember", "none");
    memo_[number] = stack_.back();
  }
  void recall(std::uint32_t number) {
    const auto found = memo_.find(number);
    if (found == memo_.end()) fail("something that was remembered", fmt::format("number {}", number));
    stack_.push_back(found->second);
  }

  std::string_view line() {
    std::size_t length = 0;
    auto ahead = cursor_;
    while (ahead.number<char>("name") != '\n')
      if (++length > longest_name) fail("a name of sensible length", "a longer one");
    const auto text = cursor_.text(length, "name");
    (void)cursor_.number<char>("name");
    return text;
  }

  void push_global() {
    const auto module = line();
    const auto name = line();
    for (const auto& known : known_globals) {
      if (known.module != module || known.name != name) continue;
      push(Kind::global).global = &known;
      return;
    }
    fail("only names that tensors need",
         fmt::format("'{}.{}', which was not run", escape_controls(module), escape_controls(name)));
  }

  /// ("storage", its type, its name, the device, how many numbers)
  void push_storage() {
    const auto& items = pop(Kind::tuple)->items;
    const bool fits = items.size() == 5 && items[0]->kind == Kind::text && items[0]->text == "storage" &&
                      items[1]->kind == Kind::global && items[1]->global->global == Global::storage &&
                      items[2]->kind == Kind::text && items[2]->text.size() <= longest_name &&
                      items[3]->kind == Kind::text && items[4]->kind == Kind::integer;
    if (!fits) fail("the description of a storage", "another tuple");
    PickledTensor tensor;
    tensor.dtype = items[1]->global->dtype;
    tensor.storage = items[2]->text;
    tensor.storage_count = items[4]->integer;
    push_tensor(Kind::storage, std::move(tensor));
  }

  void reduce() {
    const auto& arguments = pop(Kind::tuple)->items;
    const auto global = pop(Kind::global)->global;
    if (global->global == Global::ordered_dict && arguments.empty())
      push(Kind::dictionary);
    else if (global->global == Global::rebuild_tensor)
      rebuild(arguments);
    else if (global->global == Global::rebuild_parameter && arguments.size() == 3 && arguments[0]->kind == Kind::tensor)
      push(Kind::tensor).tensor = arguments[0]->tensor;
    else
      fail("a call that makes a tensor",
           fmt::format("'{}.{}' with {} arguments", global->module, global->name, arguments.size()));
  }

  /// (storage, offset, sizes, strides, whether it takes gradients, hooks)
  void rebuild(const std::vector<const Value*>& arguments) {
    const bool fits = arguments.size() == 6 && arguments[0]->kind == Kind::storage &&
                      arguments[1]->kind == Kind::integer && arguments[2]->kind == Kind::tuple &&
                      arguments[3]->kind == Kind::tuple && arguments[4]->kind == Kind::boolean &&
                      arguments[5]->kind == Kind::dictionary && arguments[5]->items.empty();
    if (!fits) fail("a storage, an offset, sizes and strides for a tensor", "other arguments");
    auto tensor = *arguments[0]->tensor;
    tensor.offset = arguments[1]->integer;
    tensor.shape = integers_of(*arguments[2]);
    tensor.strides = integers_of(*arguments[3]);
    push_tensor(Kind::tensor, std::move(tensor));
  }

  void push_tensor(Kind kind, PickledTensor tensor) {
    if (tensors_.size() == most_tensors) fail(fmt::format("at most {} tensors and storages", most_tensors), "more");
    push(kind).tensor = &tensors_.emplace_back(std::move(tensor));
  }

  std::vector<std::int64_t> integers_of(const Value& tuple) const {
    if (tuple.items.size() > most_dimensions)
      fail(fmt::format("at most {} extents", most_dimensions), fmt::format("{}", tuple.items.size()));
    std::vector<std::int64_t> integers;
    for (const auto* item : tuple.items) {
      if (item->kind != Kind::integer) fail("a tuple of integers", name_of(item->kind));
      integers.push_back(item->integer);
    }
    return integers;
  }

  /// What a dictionary is given besides its items: notes about versions of modules.
  void build() {
    (void)pop(Kind::dictionary);
    if (stack_.empty() || stack_.back()->kind != Kind::dictionary) fail("a dictionary to add to", "none");
  }

  void set_items(std::vector<const Value*> items) {
    if (stack_.empty() || stack_.back()->kind != Kind::dictionary) fail("a dictionary to add to", "none");
    if (items.size() % 2 != 0) fail("as many values as keys", "one missing");
    auto& all = stack_.back()->items;
    all.insert(all.end(), items.begin(), items.end());
  }

  std::vector<PickledTensor> tensors_of(const Value& dictionary) const {
    std::vector<PickledTensor> tensors;
    std::set<std::string_view> names;
    for (std::size_t i = 0; i < dictionary.items.size(); i += 2) {
      const auto& key = *dictionary.items[i];
      const auto& value = *dictionary.items[i + 1];
      if (key.kind != Kind::text) fail("names of tensors", name_of(key.kind));
      const auto shown = fmt::format("'{}'", escape_controls(key.text.substr(0, 100)));
      if (value.kind != Kind::tensor) fail(fmt::format("a tensor under {}", shown), name_of(value.kind));
      if (!names.insert(key.text).second) fail(fmt::format("{} once", shown), "it twice");
      tensors.push_back(*value.tensor);
      tensors.back().name = key.text;
    }
    return tensors;
  }

  ByteCursor cursor_;
  std::size_t at_ = 0;  // of the opcode at hand
  std::deque<Value> store_;
  std::deque<PickledTensor> tensors_;
  std::vector<Value*> stack_;
  std::unordered_map<std::uint32_t, Value*> memo_;
};

}  // namespace

std::vector<PickledTensor> read_tensor_pickle(std::span<const std::byte> pickle, const std::string& where) {
  return PickleReader(pickle, where).run();
}

}  // namespace qkv
