// Sums in the two orders that stm's results are made of: the order decides how the last bit is rounded.
#pragma once

namespace slant {

// Armadillo's sum: two running sums, of the even and the odd places.
template <typename Term>
double paired_sum(int n, Term term) {
  double even = 0, odd = 0;
  int i = 0;
  for (; i + 1 < n; i += 2) {
    even += term(i);
    odd += term(i + 1);
  }
  if (i < n) even += term(i);
  return even + odd;
}

template <typename Term>
double plain_sum(int n, Term term) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += term(i);
  return sum;
}

}  // namespace slant
