// The E-step of a structural topic model (Roberts, Stewart & Airoldi 2016), for stm's own EM loop: see R/fit_topics.R.
//
// For each document: the mode of its logistic-normal posterior over topics, by the variable metric method that R's
// optim(method = "BFGS") uses (Nash 1990, Algorithm 21), and the Laplace approximation around it. All sums run in the
// order in which stm's code, Armadillo and the reference BLAS form them, so that results are stm's to the bit there.
//
// Documents are independent, so that threads share them out; what is summed over documents is summed afterwards, in
// their order, so that the number of threads changes no bit. Threads touch plain arrays only, nothing of R.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <system_error>
#include <thread>
#include <utility>
#include <vector>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

namespace {

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
      std::copy_n(model.beta + static_cast<size_t>(pairs[2 * j] - 1) * model.topics, model.topics, &beta[j * model.topics]);
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
      const double prior_part = plain_sum(model.free, [&](int i) { return model.precision[i * model.free + k] * (eta[i] - mu[i]); });
      out[k] = prior_part - (words_part - share * expeta[k]);
    }
  }

  // Fills phi (topics x words), `nu` (free x free) and returns the bound.
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
      return plain_sum(model.free, [&](int i) { return model.precision[j * model.free + i] * (eta[i] - mu[i]); }) * (eta[j] - mu[j]);
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

  // The inverse of a Hessian in place, by its Cholesky factor; returns half its log determinant.
  double invert(double* matrix) {
    const int f = model.free;
    std::vector<double> factor(matrix, matrix + f * f);
    if (!cholesky(factor.data(), 0, f)) {
      make_dominant(matrix);
      factor.assign(matrix, matrix + f * f);
      cholesky(factor.data(), 0, f);
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

// Nash's variable metric minimiser with the constants of optim(): an estimate of the inverse Hessian that starts as
// the identity, a backtracking line search, and a fresh start from the identity where neither helps.
class Minimiser {
 public:
  explicit Minimiser(int n) : n(n), gradient(n), step(n), origin(n), change(n), metric(n * n) {}

  // Moves `at` to the minimum; false where the function isn't finite where it starts.
  bool minimise(Document& document, double* at) {
    const int max_gradients = 500;
    double lowest = document.value(at);
    if (!std::isfinite(lowest)) return false;
    reached = lowest;
    document.gradient(at, gradient.data());
    int gradients = 1, fresh_at = 1;
    while (true) {
      if (fresh_at == gradients) reset();
      std::copy_n(at, n, origin.begin());
      change = gradient;
      const double slope = descend();
      const bool moved = slope < 0 && search(document, at, slope, lowest);
      if (moved) {
        document.gradient(at, gradient.data());
        ++gradients;
        if (!update()) fresh_at = gradients;
      } else if (fresh_at == gradients) {
        return true;
      } else {
        fresh_at = gradients;
      }
      if (gradients >= max_gradients) return true;
      if (gradients - fresh_at > 2 * n) fresh_at = gradients;
    }
  }

 private:
  void reset() {
    std::fill(metric.begin(), metric.end(), 0.0);
    for (int i = 0; i < n; ++i) metric[i * n + i] = 1;
  }

  // The metric is symmetric; its lower triangle is kept.
  double& entry(int i, int j) { return i >= j ? metric[i * n + j] : metric[j * n + i]; }

  double descend() {
    double slope = 0;
    for (int i = 0; i < n; ++i) {
      step[i] = 0;
      for (int j = 0; j < n; ++j) step[i] -= entry(i, j) * gradient[j];
      slope += step[i] * gradient[i];
    }
    return slope;
  }

  // Goes along `step` until the function is low enough; false where that is no progress to speak of.
  bool search(Document& document, double* at, double slope, double& lowest) {
    const double tolerance = std::sqrt(std::numeric_limits<double>::epsilon());
    double length = 1;
    while (true) {
      int unmoved = 0;
      for (int i = 0; i < n; ++i) {
        at[i] = origin[i] + length * step[i];
        if (10.0 + origin[i] == 10.0 + at[i]) ++unmoved;
      }
      // `reached` is the last value looked at, as in optim(), where the point comes back to the start.
      if (unmoved == n) {
        const bool enough = std::fabs(reached - lowest) > tolerance * (std::fabs(lowest) + tolerance);
        if (!enough) lowest = reached;
        return false;
      }
      reached = document.value(at);
      if (std::isfinite(reached) && reached <= lowest + slope * length * 1e-4) break;
      length *= .2;
    }
    const bool is_progress = std::fabs(reached - lowest) > tolerance * (std::fabs(lowest) + tolerance);
    lowest = reached;
    for (double& part : step) part *= length;
    return is_progress;
  }

  // Learns the curvature along the last step; false where it is not convex there.
  bool update() {
    double along = 0;
    for (int i = 0; i < n; ++i) {
      change[i] = gradient[i] - change[i];
      along += step[i] * change[i];
    }
    if (!(along > 0)) return false;
    double scale = 0;
    for (int i = 0; i < n; ++i) {
      origin[i] = 0;
      for (int j = 0; j < n; ++j) origin[i] += entry(i, j) * change[j];
      scale += origin[i] * change[i];
    }
    scale = 1 + scale / along;
    for (int i = 0; i < n; ++i)
      for (int j = 0; j <= i; ++j)
        metric[i * n + j] += (scale * step[i] * step[j] - origin[i] * step[j] - step[i] * origin[j]) / along;
    return true;
  }

  const int n;
  double reached = 0;
  std::vector<double> gradient, step, origin, change, metric;
};

struct Results {
  std::vector<size_t> first;             // where each document's words begin in phi
  std::vector<double> phi, nu, bound, eta;
  std::atomic<int> next{0}, not_finite{-1};
};

struct Corpus {
  std::vector<const int*> pairs;         // word and count by turns
  std::vector<int> words;
  const double *mu, *eta;                // free x documents (or one column for all), documents x free
  bool has_own_mu;
};

// Takes blocks of documents until none is left.
void work(const Model& model, const Corpus& corpus, Results& results) {
  const int n = static_cast<int>(corpus.pairs.size()), f = model.free, block = 64;
  Document document(model);
  Minimiser minimiser(f);
  std::vector<double> eta(f);
  for (int begin; (begin = results.next.fetch_add(block)) < n;) {
    for (int i = begin; i < std::min(n, begin + block); ++i) {
      for (int k = 0; k < f; ++k) eta[k] = corpus.eta[i + static_cast<size_t>(k) * n];
      document.open(corpus.pairs[i], corpus.words[i], corpus.mu + (corpus.has_own_mu ? static_cast<size_t>(i) * f : 0));
      if (!minimiser.minimise(document, eta.data())) {
        results.not_finite = i;
        continue;
      }
      results.bound[i] = document.posterior(eta.data(), &results.nu[static_cast<size_t>(i) * f * f]);
      std::copy(document.phi.begin(), document.phi.end(), results.phi.begin() + results.first[i]);
      for (int k = 0; k < f; ++k) results.eta[i + static_cast<size_t>(k) * n] = eta[k];
    }
  }
}

void work_on_threads(int n_threads, const Model& model, const Corpus& corpus, Results& results) {
  std::vector<std::thread> others;
  for (int t = 1; t < n_threads; ++t) {
    try {
      others.emplace_back(work, std::cref(model), std::cref(corpus), std::ref(results));
    } catch (const std::system_error&) {
      break;  // no more threads to be had: the ones there are do it
    }
  }
  work(model, corpus, results);
  for (std::thread& other : others) other.join();
}

SEXP named_list(const std::vector<std::pair<const char*, SEXP>>& items) {
  SEXP list = PROTECT(Rf_allocVector(VECSXP, items.size())), names = PROTECT(Rf_allocVector(STRSXP, items.size()));
  for (size_t i = 0; i < items.size(); ++i) {
    SET_VECTOR_ELT(list, i, items[i].second);
    SET_STRING_ELT(names, i, Rf_mkChar(items[i].first));
  }
  Rf_setAttrib(list, R_NamesSymbol, names);
  UNPROTECT(2);
  return list;
}

// Returns the place of a document where the posterior isn't finite, or -1.
int fill(SEXP documents, const Model& model, Corpus& corpus, int n_threads, SEXP sigma, SEXP beta, SEXP bound, SEXP eta) {
  const int n = Rf_length(documents), f = model.free, t = model.topics;
  Results results;
  size_t size = 0;
  for (int i = 0; i < n; ++i) {
    corpus.pairs.push_back(INTEGER(VECTOR_ELT(documents, i)));
    corpus.words.push_back(Rf_length(VECTOR_ELT(documents, i)) / 2);
    results.first.push_back(size);
    size += static_cast<size_t>(corpus.words[i]) * t;
  }
  results.phi.resize(size);
  results.nu.resize(static_cast<size_t>(n) * f * f);
  results.bound.resize(n);
  results.eta.resize(static_cast<size_t>(n) * f);
  work_on_threads(n_threads, model, corpus, results);
  std::copy(results.bound.begin(), results.bound.end(), REAL(bound));
  std::copy(results.eta.begin(), results.eta.end(), REAL(eta));
  for (int i = 0; i < n; ++i) {
    for (int e = 0; e < f * f; ++e) REAL(sigma)[e] += results.nu[static_cast<size_t>(i) * f * f + e];
    for (int j = 0; j < corpus.words[i]; ++j)
      for (int k = 0; k < t; ++k)
        REAL(beta)[static_cast<size_t>(corpus.pairs[i][2 * j] - 1) * t + k] += results.phi[results.first[i] + j * t + k];
  }
  return results.not_finite;
}

SEXP zeros(int rows, int columns) {
  SEXP matrix = Rf_allocMatrix(REALSXP, rows, columns);
  std::fill_n(REAL(matrix), XLENGTH(matrix), 0.0);
  return matrix;
}

}  // namespace

// documents: integer matrices of two rows; mu: free x documents, or free x 1; beta: topics x vocabulary; eta: documents
// x free; threads: 0 for as many as there are cores. Returns what stm's estep() returns for one document aspect, and `not_finite` (a document's number, or 0).
extern "C" SEXP slant_topic_estep(SEXP documents, SEXP mu, SEXP beta, SEXP eta, SEXP precision, SEXP entropy, SEXP threads) {
  const int n = Rf_length(documents), topics = Rf_nrows(beta), free = topics - 1;
  for (int i = 0; i < n; ++i) {
    if (TYPEOF(VECTOR_ELT(documents, i)) != INTSXP) Rf_error("document %d is not an integer matrix", i + 1);
  }
  Model model{topics, free, REAL(beta), REAL(precision), Rf_asReal(entropy)};
  Corpus corpus{{}, {}, REAL(mu), REAL(eta), XLENGTH(mu) > free};
  SEXP sigma_sum = PROTECT(zeros(free, free)), beta_sum = PROTECT(zeros(topics, Rf_ncols(beta)));
  SEXP bound = PROTECT(Rf_allocVector(REALSXP, n)), lambda = PROTECT(Rf_allocMatrix(REALSXP, n, free));
  const int wanted = Rf_asInteger(threads) > 0 ? Rf_asInteger(threads) : static_cast<int>(std::thread::hardware_concurrency());
  const int not_finite = fill(documents, model, corpus, std::max(1, wanted), sigma_sum, beta_sum, bound, lambda);
  SEXP said = PROTECT(Rf_ScalarInteger(not_finite + 1));
  SEXP list = named_list({{"sigma", sigma_sum}, {"beta", beta_sum}, {"bound", bound}, {"lambda", lambda}, {"not_finite", said}});
  UNPROTECT(5);
  return list;
}
