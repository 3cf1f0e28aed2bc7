#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <utility>

#include "qkv/core/error.hpp"
#include "qkv/io/byte_cursor.hpp"
#include "qkv/io/mapped_file.hpp"
#include "qkv/model/config_keys.hpp"
#include "qkv/model/families/families.hpp"

/// The files of the program llama2.c: a header of a few numbers, then all tensors of a Llama one kind after the other,
/// without names. Three versions, as that program's export script writes them: 0 has seven numbers and no magic (a
/// negative vocabulary says that the head is not tied) and holds rotary tables nobody needs; 1 and 2 begin with a magic
/// number and have a header of 256 bytes; 2 keeps its matrices as signed bytes in groups that share an f32 scale, and
/// what is multiplied by them is rounded to such groups too.
/// Rotary positions turn neighbouring numbers. The program knows one epsilon and one theta, and a text ends with the
/// token that begins the next.
namespace qkv {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr std::uint32_t magic = 0x616B3432;  // "ak42"
constexpr std::size_t new_header_size = 256;
constexpr std::size_t n_numbers = 7;

/// What the seven numbers of the header are called there, and in the family's config.json.
constexpr std::array<std::pair<const char*, const char*>, n_numbers> header_names{
    {{"dim", "hidden_size"},
     {"hidden_dim", "intermediate_size"},
     {"n_layers", "num_hidden_layers"},
     {"n_heads", "num_attention_heads"},
     {"n_kv_heads", "num_key_value_heads"},
     {"vocab_size", "vocab_size"},
     {"seq_len", "max_position_embeddings"}}};

struct Header {
  std::uint32_t version = 0;
  std::array<std::int64_t, n_numbers> numbers{};
  bool tied = true;
  std::int64_t group_size = 0;  // version 2
  std::size_t size = 0;         // bytes before the first tensor

  [[nodiscard]] std::int64_t d_model() const { return numbers[0]; }
  [[nodiscard]] std::int64_t d_ff() const { return numbers[1]; }
  [[nodiscard]] std::int64_t n_layers() const { return numbers[2]; }
  [[nodiscard]] std::int64_t head_dim() const { return numbers[0] / numbers[3]; }
  [[nodiscard]] std::int64_t kv_width() const { return numbers[4] * head_dim(); }
  [[nodiscard]] std::int64_t n_vocab() const { return numbers[5]; }
  [[nodiscard]] std::int64_t n_ctx() const { return numbers[6]; }
};

std::uint32_t first_word(std::span<const std::byte> bytes) {
  std::uint32_t word = 0;
  if (bytes.size() >= sizeof word) std::memcpy(&word, bytes.data(), sizeof word);
  return word;
}

Header read_header(const std::string& where, std::span<const std::byte> bytes) {
  ByteCursor cursor(where, bytes);
  Header header;
  if (first_word(bytes) == magic) {
    (void)cursor.number<std::uint32_t>("magic");
    header.version = cursor.number<std::uint32_t>("version");
    if (header.version != 1 && header.version != 2)
      throw Error(ErrorCode::model,
                  fmt::format("{}: version: expected llama2.c version 1 or 2, found {}", where, header.version));
  }
  for (std::size_t i = 0; i < n_numbers; ++i)
    header.numbers[i] = cursor.number<std::int32_t>(fmt::format("header, {}", header_names[i].first));
  if (header.version == 0) {
    auto& n_vocab = header.numbers[5];
    header.tied = n_vocab > 0;
    n_vocab = std::abs(n_vocab);
    header.size = cursor.position();
    return header;
  }
  const auto tied = cursor.number<std::uint8_t>("header, shared_classifier");
  if (tied > 1)
    throw Error(ErrorCode::model, fmt::format("{}: header, shared_classifier: expected 0 or 1, found {}", where, tied));
  header.tied = tied == 1;
  if (header.version == 2) header.group_size = cursor.number<std::int32_t>("header, group_size");
  if (header.version == 2 && header.group_size < 1)
    throw Error(ErrorCode::model, fmt::format("{}: header, group_size: expected an integer of at least 1, found {}",
                                              where, header.group_size));
  header.size = new_header_size;
  return header;
}

/// A row of the embedding is read group by group. Rows of other matrices may end within one.
void check_group(const std::string& where, const Header& header) {
  const auto group = header.group_size;
  if (header.d_model() % group != 0 || header.d_ff() < group)
    throw Error(ErrorCode::model,
                fmt::format("{}: header, group_size: expected a divisor of dim {}, at most hidden_dim "
                            "{}, found {}",
                            where, header.d_model(), header.d_ff(), group));
}

/// The tensors, named as the family names them.
class Llama2cWeights : public WeightSource {
 public:
  explicit Llama2cWeights(const fs::path& path)
      : file_(path), header_(read_header(path.string(), file_.bytes())), cursor_(path.string(), file_.bytes()) {
    (void)cursor_.take(header_.size, "header");
    if (header_.version == 2) check_group(path.string(), header_);
    if (header_.version == 0)
      place_old();
    else
      place_new();
    if (cursor_.left() > 0)
      throw Error(ErrorCode::model, fmt::format("{}: expected {} bytes, as the header says, found {}", cursor_.where(),
                                                cursor_.position(), file_.bytes().size()));
    std::sort(tensors_.begin(), tensors_.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  }
  [[nodiscard]] const std::vector<StoredTensor>& tensors() const override { return tensors_; }
  void release(const StoredTensor& tensor) const override {
    if (file_.holds(tensor.bytes)) release_pages(tensor.bytes);  // what was widened is there only once
  }

 private:
  void place_old() {
    const auto d = header_.d_model();
    add("model.embed_tokens", {header_.n_vocab(), d});
    add_vectors("input_layernorm");
    place_attention();
    add_vectors("post_attention_layernorm");
    place_mlp();
    add_f32("model.norm.weight", {d});
    const Shape table{header_.n_ctx(), header_.head_dim() / 2};
    (void)cursor_.take(bytes_of(table, "rotary tables"), "rotary tables");  // cosines
    (void)cursor_.take(bytes_of(table, "rotary tables"), "rotary tables");  // sines
    if (!header_.tied) add("lm_head", {header_.n_vocab(), d});
  }

  void place_new() {
    const auto d = header_.d_model();
    add_vectors("input_layernorm");
    add_vectors("post_attention_layernorm");
    add_f32("model.norm.weight", {d});
    add("model.embed_tokens", {header_.n_vocab(), d});
    place_attention();
    place_mlp();
    if (!header_.tied) add("lm_head", {header_.n_vocab(), d});
  }

  void place_attention() {
    const auto d = header_.d_model();
    add_matrices("self_attn.q_proj", {d, d});
    add_matrices("self_attn.k_proj", {header_.kv_width(), d});
    add_matrices("self_attn.v_proj", {header_.kv_width(), d});
    add_matrices("self_attn.o_proj", {d, d});
  }

  void place_mlp() {
    const auto d = header_.d_model();
    add_matrices("mlp.gate_proj", {header_.d_ff(), d});
    add_matrices("mlp.down_proj", {d, header_.d_ff()});
    add_matrices("mlp.up_proj", {header_.d_ff(), d});
  }

  void add_vectors(const char* part) {
    for (std::int64_t i = 0; i < header_.n_layers(); ++i)
      add_f32(fmt::format("model.layers.{}.{}.weight", i, part), {header_.d_model()});
  }
  void add_matrices(const char* part, const Shape& shape) {
    for (std::int64_t i = 0; i < header_.n_layers(); ++i) add(fmt::format("model.layers.{}.{}", i, part), shape);
  }

  void add(const std::string& name, const Shape& shape) {
    if (header_.version == 2)
      add_groups(name + ".weight", shape[0], shape[1]);
    else
      add_f32(name + ".weight", shape);
  }

  [[nodiscard]] std::uint64_t bytes_of(const Shape& shape, const std::string& what) const {
    const auto count = element_count(shape);
    const auto bytes = count ? byte_count(DType::f32, *count) : std::nullopt;
    if (!bytes)
      throw Error(ErrorCode::model, fmt::format("{}: {}: expected sizes whose product fits 64 bits, found {}",
                                                cursor_.where(), what, to_string(shape)));
    return static_cast<std::uint64_t>(*bytes);
  }

  void add_f32(const std::string& name, const Shape& shape) {
    const auto what = fmt::format("tensor '{}'", name);
    tensors_.push_back({name, DType::f32, shape, cursor_.take(bytes_of(shape, what), what), cursor_.where()});
  }

  /// Signed bytes, then one scale for each group of them. They stand apart, so that they are no blocks: the numbers are
  /// made here, as the program reads them. Groups run on from row to row; where they do not divide a row, each whole
  /// group of a row takes the scale of the one that its first byte is in, and what is left of the row is not
  /// multiplied.
  void add_groups(const std::string& name, std::int64_t rows, std::int64_t cols) {
    const auto what = fmt::format("tensor '{}'", name);
    const Shape shape{rows, cols};
    const auto count = bytes_of(shape, what) / sizeof(float);
    const auto group = static_cast<std::uint64_t>(header_.group_size);
    if (count % group != 0)
      throw Error(ErrorCode::model, fmt::format("{}: {}: expected a multiple of the group size {}, found {} numbers",
                                                cursor_.where(), what, group, count));
    const auto bytes = cursor_.take(count, what);
    const auto scales = cursor_.take(count / group * sizeof(float), what);
    float scale = 0.0F;
    auto& numbers = made_.emplace_back(bytes.size());
    const auto width = static_cast<std::uint64_t>(cols);
    for (std::uint64_t row = 0; row < count; row += width)
      for (std::uint64_t first = row; first + group <= row + width; first += group) {
        std::memcpy(&scale, &scales[first / group * sizeof scale], sizeof scale);
        for (auto i = first; i < first + group; ++i)
          numbers[i] = static_cast<float>(static_cast<std::int8_t>(bytes[i])) * scale;
      }
    tensors_.push_back({name, DType::f32, shape, std::as_bytes(std::span(numbers)), cursor_.where()});
  }

  MappedFile file_;
  Header header_;
  ByteCursor cursor_;
  std::deque<std::vector<float>> made_;
  std::vector<StoredTensor> tensors_;
};

std::string_view format_name(std::uint32_t version) {
  constexpr std::array<std::string_view, 3> names{"llama2.c version 0", "llama2.c version 1",
                                                  "llama2.c version 2, bytes in groups"};
  return names[version];
}

ContainerFiles open(const fs::path& path) {
  const MappedFile file(path);
  const auto header = read_header(path.string(), file.bytes());
  json config{{"model_type", "llama"},
              {"hidden_act", "silu"},
              {"rms_norm_eps", 1e-5},
              {"rope_theta", 10000.0},
              {"tie_word_embeddings", header.tied},
              {"bos_token_id", 1},
              {"eos_token_id", {1, 2}}};
  std::map<std::string, std::string, std::less<>> spellings;
  for (std::size_t i = 0; i < n_numbers; ++i) {
    const auto& [name, key] = header_names[i];
    config[key] = header.numbers[i];
    spellings[key] = name;
  }
  return {JsonReader(path.string(), std::move(config), std::move(spellings)),
          [path, version = header.version] {
            return OpenedWeights{format_name(version), std::make_shared<Llama2cWeights>(path)};
          },
          {},
          [group = header.group_size](Config& made) {
            made.position.rotary.layout = ops::RotaryLayout::pairs;
            made.linear_input_group = group;
          }};
}

/// Beside the model: `tok512.bin` for a vocabulary of 512, as its author names them, else `tokenizer.bin`.
fs::path tokenizer(const fs::path& path) {
  const MappedFile file(path);
  const auto n_vocab = read_header(path.string(), file.bytes()).n_vocab();
  const auto numbered = path.parent_path() / fmt::format("tok{}.bin", n_vocab);
  std::error_code ignored;
  return fs::exists(numbered, ignored) ? numbered : path.parent_path() / "tokenizer.bin";
}

/// Version 0 has no magic, so it is known by the ending of its name and by a width that could be one. PyTorch's files
/// end so too; their first four bytes, as a number, are larger than any width.
bool recognises(const fs::path& path) {
  std::error_code ignored;
  if (!fs::is_regular_file(path, ignored)) return false;
  std::array<char, 4> begin{};
  if (!std::ifstream(path, std::ios::binary).read(begin.data(), begin.size())) return false;
  const auto word = first_word(std::as_bytes(std::span(begin)));
  return word == magic || (path.extension() == ".bin" && word <= width_range.max);
}

}  // namespace

Container llama2c_container() { return {"llama2.c", recognises, open, tokenizer}; }

}  // namespace qkv
