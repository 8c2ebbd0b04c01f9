// One document's logistic-normal posterior over topics: its value, its gradient, and the Laplace approximation around
// its mode. All sums run in the order in which stm's code, Armadillo and the reference BLAS and LAPACK form them.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "sums.h"

namespace slant {

struct Model {
  int topics, free;           // free = topics - 1: the last topic's eta is 0
  const double* beta;         // topics x vocabulary
  const double* precision;    // free x free: the inverse of sigma
  double entropy;
};

// One document at a time; a thread keeps one of these and its memory.
class Document {
 public:
  explicit Document(const Model& model) : model(model), expeta(model.topics), theta(model.topics) {}

  void open(const int* pairs, int n, const double* prior_mean) {
    words = n;
    mu = prior_mean;
    counts.resize(n);
    beta.resize(static_cast<size_t>(n) * model.topics);
    phi.resize(beta.size());
    scaled.resize(n);
    total = 0;
    for (int j = 0; j < n; ++j) {
      counts[j] = pairs[2 * j + 1];
      total += counts[j];
      const size_t column = static_cast<size_t>(pairs[2 * j] - 1) * model.topics;
      std::copy_n(model.beta + column, model.topics, &beta[j * model.topics]);
    }
  }

  // The negative log posterior of eta, without its constant.
  double value(const double* eta) {
    set(eta);
    const double loglik = log_words(expeta.data()) - total * std::log(exp_sum);
    return .5 * distance(eta) - loglik;
  }

  void gradient(const double* eta, double* out) {
    set(eta);
    weigh([&](int j, double sum) { return counts[j] / sum; });
    const double share = total / exp_sum;
    for (int k = 0; k < model.free; ++k) {
      double words_part = 0;
      for (int j = 0; j < words; ++j) words_part += phi[j * model.topics + k] * scaled[j];
      const double prior_part =
          plain_sum(model.free, [&](int i) { return model.precision[i * model.free + k] * (eta[i] - mu[i]); });
      out[k] = prior_part - (words_part - share * expeta[k]);
    }
  }

  // Fills phi (topics x words) and `nu` (free x free), returns the bound; NaN where the posterior has no such shape.
  double posterior(const double* eta, double* nu) {
    set(eta);
    for (int k = 0; k < model.topics; ++k) theta[k] = expeta[k] / exp_sum;
    double bound = log_words(theta.data());
    weigh([&](int j, double sum) { return std::sqrt(counts[j]) / sum; });
    for (int j = 0; j < words; ++j)
      for (int k = 0; k < model.topics; ++k) phi[j * model.topics + k] *= scaled[j];
    hessian(nu);
    const double half_log_det = invert(nu);
    bound = bound - half_log_det - .5 * distance(eta) - model.entropy;
    return bound;
  }

  int words = 0;
  std::vector<double> phi;

 private:
  void set(const double* eta) {
    for (int k = 0; k < model.free; ++k) expeta[k] = std::exp(eta[k]);
    expeta[model.free] = 1;
    exp_sum = paired_sum(model.topics, [&](int k) { return expeta[k]; });
  }

  double log_words(const double* weight) const {
    return plain_sum(words, [&](int j) {
      const double* column = &beta[j * model.topics];
      return std::log(plain_sum(model.topics, [&](int k) { return column[k] * weight[k]; })) * counts[j];
    });
  }

  // phi becomes beta times exp(eta), and each word's `scaled` what `weight` makes of its sum over topics.
  template <typename Weight>
  void weigh(Weight weight) {
    for (int j = 0; j < words; ++j) {
      double* column = &phi[j * model.topics];
      for (int k = 0; k < model.topics; ++k) column[k] = beta[j * model.topics + k] * expeta[k];
      scaled[j] = weight(j, paired_sum(model.topics, [&](int k) { return column[k]; }));
    }
  }

  double distance(const double* eta) const {
    return plain_sum(model.free, [&](int j) {
      const double* column = &model.precision[j * model.free];
      return plain_sum(model.free, [&](int i) { return column[i] * (eta[i] - mu[i]); }) * (eta[j] - mu[j]);
    });
  }

  // Upper triangle, and the sums of phi's rows on the diagonal; phi gets its final scale on the way.
  void hessian(double* out) {
    const int f = model.free, t = model.topics;
    const bool is_small = words * t <= 48;  // where Armadillo multiplies by itself instead of calling BLAS
    for (int a = 0; a < f; ++a) {
      for (int b = 0; b <= a; ++b) {
        const auto term = [&](int j) { return phi[j * t + a] * phi[j * t + b]; };
        const double product = is_small && words > 1 ? paired_sum(words, term) : plain_sum(words, term);
        out[a * f + b] = product - total * (theta[a] * theta[b]);
      }
    }
    for (int j = 0; j < words; ++j)
      for (int k = 0; k < t; ++k) phi[j * t + k] *= std::sqrt(counts[j]);
    for (int a = 0; a < f; ++a) {
      const double row = plain_sum(words, [&](int j) { return phi[j * t + a]; });
      out[a * f + a] -= row - total * theta[a];
      for (int b = 0; b <= a; ++b) {
        out[a * f + b] += model.precision[a * f + b];
        out[b * f + a] = out[a * f + b];
      }
    }
  }

  // The inverse of a Hessian in place, by its Cholesky factor; returns half its log determinant (NaN: none).
  double invert(double* matrix) {
    const int f = model.free;
    std::vector<double> factor(matrix, matrix + f * f);
    if (!cholesky(factor.data(), 0, f)) {
      make_dominant(matrix);
      factor.assign(matrix, matrix + f * f);
      if (!cholesky(factor.data(), 0, f)) return std::numeric_limits<double>::quiet_NaN();
    }
    for (int j = 0; j < f; ++j) std::fill(&factor[j * f + j] + 1, &factor[j * f] + f, 0.0);
    const double half_log_det = paired_sum(f, [&](int i) { return std::log(factor[i * f + i]); });
    invert_upper(factor.data());
    const bool is_small = f * f <= 48;
    for (int a = 0; a < f; ++a)
      for (int b = 0; b < f; ++b) {
        const auto term = [&](int l) { return factor[l * f + a] * factor[l * f + b]; };
        matrix[a * f + b] = is_small && f > 1 ? paired_sum(f, term) : plain_sum(f, term);
      }
    return half_log_det;
  }

  // Upper factor in place, by halves as LAPACK does; false where the matrix isn't positive definite.
  bool cholesky(double* m, int begin, int end) const {
    const int f = model.free, middle = begin + (end - begin) / 2;
    if (end - begin == 1) {
      double& pivot = m[begin * f + begin];
      if (!(pivot > 0)) return false;
      pivot = std::sqrt(pivot);
      return true;
    }
    if (!cholesky(m, begin, middle)) return false;
    for (int j = middle; j < end; ++j)
      for (int i = begin; i < middle; ++i) {
        double value = m[j * f + i];
        for (int l = begin; l < i; ++l) value -= m[i * f + l] * m[j * f + l];
        m[j * f + i] = value / m[i * f + i];
      }
    for (int j = middle; j < end; ++j)
      for (int i = middle; i <= j; ++i)
        m[j * f + i] -= plain_sum(middle - begin, [&](int l) { return m[i * f + begin + l] * m[j * f + begin + l]; });
    return cholesky(m, middle, end);
  }

  // Not at a mode yet: each diagonal element at least the sum of its row's others.
  void make_dominant(double* m) const {
    const int f = model.free;
    for (int i = 0; i < f; ++i) {
      const double own = std::fabs(m[i * f + i]);
      const double others = plain_sum(f, [&](int j) { return std::fabs(m[j * f + i]); }) - own;
      if (m[i * f + i] < others) m[i * f + i] = others;
    }
  }

  // LAPACK's order, column by column; for two rows Armadillo uses the determinant instead.
  void invert_upper(double* m) const {
    const int f = model.free;
    const double determinant = f == 2 ? m[0] * m[3] : 0, smallest = std::numeric_limits<double>::epsilon();
    if (determinant >= smallest && determinant <= 1 / smallest) {
      const double first = m[0];
      m[0] = m[3] / determinant;
      m[2] = -m[2] / determinant;
      m[3] = first / determinant;
      return;
    }
    for (int j = 0; j < f; ++j) {
      m[j * f + j] = 1 / m[j * f + j];
      for (int l = 0; l < j; ++l) {
        const double value = m[j * f + l];
        for (int i = 0; i < l; ++i) m[j * f + i] += value * m[l * f + i];
        m[j * f + l] *= m[l * f + l];
      }
      for (int i = 0; i < j; ++i) m[j * f + i] *= -m[j * f + j];
    }
  }

  const Model& model;
  std::vector<double> expeta, theta, counts, beta, scaled;
  const double* mu = nullptr;
  double total = 0, exp_sum = 0;
};

}  // namespace slant
