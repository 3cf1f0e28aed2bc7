#pragma once

// The fields of a plain struct, counted and visited without anyone listing them, so that a field that was added later
// is found too. C++20 has no reflection; structured bindings and aggregate initialisation come near it.

#include <cstddef>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

namespace qkv::test {

template <typename T>
struct IsOptional : std::false_type {};
template <typename T>
struct IsOptional<std::optional<T>> : std::true_type {};

/// Stands for a value of any type. (An optional takes it as what it holds.)
struct Anything {
  template <typename T>
  requires(!IsOptional<T>::value) operator T() const;  // NOLINT(google-explicit-constructor)
};

/// With how many values a struct can be initialised at most.
template <typename T, typename... Given>
constexpr std::size_t field_count() {
  if constexpr (requires { T{Given{}..., Anything{}}; })
    return field_count<T, Given..., Anything>();
  else
    return sizeof...(Given);
}

template <typename Visit, typename... Fields>
void visit_all(const Visit& visit, Fields&... fields) {
  std::size_t index = 0;
  (visit(index++, fields), ...);
}

/// Calls visit(index, field) for each field of a struct, in their order.
template <typename T, typename Visit>
void visit_fields(T& object, const Visit& visit) {
  constexpr auto count = field_count<std::remove_const_t<T>>();
  static_assert(count > 0 && count <= 36, "write down more cases below");
  // clang-format off
  if constexpr (count == 1) {
    auto& [a] = object;
    visit_all(visit, a);
  }
  if constexpr (count == 2) {
    auto& [a, b] = object;
    visit_all(visit, a, b);
  }
  if constexpr (count == 3) {
    auto& [a, b, c] = object;
    visit_all(visit, a, b, c);
  }
  if constexpr (count == 4) {
    auto& [a, b, c, d] = object;
    visit_all(visit, a, b, c, d);
  }
  if constexpr (count == 5) {
    auto& [a, b, c, d, e] = object;
    visit_all(visit, a, b, c, d, e);
  }
  if constexpr (count == 6) {
    auto& [a, b, c, d, e, f] = object;
    visit_all(visit, a, b, c, d, e, f);
  }
  if constexpr (count == 7) {
    auto& [a, b, c, d, e, f, g] = object;
    visit_all(visit, a, b, c, d, e, f, g);
  }
  if constexpr (count == 8) {
    auto& [a, b, c, d, e, f, g, h] = object;
    visit_all(visit, a, b, c, d, e, f, g, h);
  }
  if constexpr (count == 9) {
    auto& [a, b, c, d, e, f, g, h, i] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i);
  }
  if constexpr (count == 10) {
    auto& [a, b, c, d, e, f, g, h, i, j] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j);
  }
  if constexpr (count == 11) {
    auto& [a, b, c, d, e, f, g, h, i, j, k] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k);
  }
  if constexpr (count == 12) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l);
  }
  if constexpr (count == 13) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m);
  }
  if constexpr (count == 14) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n);
  }
  if constexpr (count == 15) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o);
  }
  if constexpr (count == 16) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p);
  }
  if constexpr (count == 17) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q);
  }
  if constexpr (count == 18) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r);
  }
  if constexpr (count == 19) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
  }
  if constexpr (count == 20) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t);
  }
  if constexpr (count == 21) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u);
  }
  if constexpr (count == 22) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v);
  }
  if constexpr (count == 23) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w);
  }
  if constexpr (count == 24) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x);
  }
  if constexpr (count == 25) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y);
  }
  if constexpr (count == 26) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z);
  }
  if constexpr (count == 27) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa);
  }
  if constexpr (count == 28) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb);
  }
  if constexpr (count == 29) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc);
  }
  if constexpr (count == 30) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd);
  }
  if constexpr (count == 31) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee);
  }
  if constexpr (count == 32) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff);
  }
  if constexpr (count == 33) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg);
  }
  if constexpr (count == 34) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg, hh] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg, hh);
  }
  if constexpr (count == 35) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg, hh, ii] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg, hh, ii);
  }
  if constexpr (count == 36) {
    auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg, hh, ii, jj] = object;
    visit_all(visit, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x, y, z, aa, bb, cc, dd, ee, ff, gg, hh, ii, jj);
  }
  // clang-format on
}

/// Calls visit(path, value) for each value that is no struct itself, inside of structs too; the path is made of
/// indices,
/// ".3.1".
template <typename T, typename Visit>
void visit_leaves(T& value, const Visit& visit, const std::string& path = {}) {
  using Value = std::remove_const_t<T>;
  if constexpr (std::is_class_v<Value> && std::is_aggregate_v<Value>)
    visit_fields(
        value, [&](std::size_t index, auto& field) { visit_leaves(field, visit, path + "." + std::to_string(index)); });
  else
    visit(path, value);
}

}  // namespace qkv::test
