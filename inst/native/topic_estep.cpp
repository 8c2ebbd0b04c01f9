// The E-step of a structural topic model (Roberts, Stewart & Airoldi 2016), for stm's own EM loop: see R/fit_topics.R.
//
// Documents are independent, so that threads share them out; what is summed over documents is summed afterwards, in
// their order, so that the number of threads changes no bit. Threads touch plain arrays only, nothing of R.

#include <algorithm>
#include <atomic>
#include <cmath>
#include <cstddef>
#include <functional>
#include <new>
#include <system_error>
#include <thread>
#include <vector>

#define R_NO_REMAP
#include <R.h>
#include <Rinternals.h>

#include "topic_document.h"
#include "variable_metric.h"

namespace {

using slant::Document;
using slant::Minimiser;
using slant::Model;

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
      const double* mu = corpus.mu + (corpus.has_own_mu ? static_cast<size_t>(i) * f : 0);
      document.open(corpus.pairs[i], corpus.words[i], mu);
      if (!minimiser.minimise(document, eta.data())) {
        results.not_finite = i;
        continue;
      }
      results.bound[i] = document.posterior(eta.data(), &results.nu[static_cast<size_t>(i) * f * f]);
      if (std::isnan(results.bound[i])) results.not_finite = i;
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

// Returns the place of a document where the posterior isn't finite, or -1.
int fill(SEXP documents, const Model& model, Corpus& corpus, int n_threads, double* sigma, double* beta, double* bound,
         double* eta) {
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
  std::copy(results.bound.begin(), results.bound.end(), bound);
  std::copy(results.eta.begin(), results.eta.end(), eta);
  for (int i = 0; i < n; ++i) {
    for (int e = 0; e < f * f; ++e) sigma[e] += results.nu[static_cast<size_t>(i) * f * f + e];
    for (int j = 0; j < corpus.words[i]; ++j)
      for (int k = 0; k < t; ++k)
        beta[static_cast<size_t>(corpus.pairs[i][2 * j] - 1) * t + k] += results.phi[results.first[i] + j * t + k];
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
// x free; threads: 0 for as many as there are cores. Returns what stm's estep() returns for one document aspect, and
// `not_finite` (a document's number, or 0).
extern "C" SEXP slant_topic_estep(SEXP documents, SEXP mu, SEXP beta, SEXP eta, SEXP precision, SEXP entropy,
                                  SEXP threads) {
  const int n = Rf_length(documents), topics = Rf_nrows(beta), free = topics - 1;
  for (int i = 0; i < n; ++i) {
    if (TYPEOF(VECTOR_ELT(documents, i)) != INTSXP) Rf_error("document %d is not an integer matrix", i + 1);
  }
  SEXP sigma_sum = PROTECT(zeros(free, free)), beta_sum = PROTECT(zeros(topics, Rf_ncols(beta)));
  SEXP bound = PROTECT(Rf_allocVector(REALSXP, n)), lambda = PROTECT(Rf_allocMatrix(REALSXP, n, free));
  const int wanted = Rf_asInteger(threads), cores = static_cast<int>(std::thread::hardware_concurrency());
  // A thread costs as much as a block or two of documents.
  const int n_threads = std::min(wanted > 0 ? wanted : std::max(1, cores), 1 + n / 512);
  int not_finite = -1;
  bool has_memory = true;
  try {
    const Model model{topics, free, REAL(beta), REAL(precision), Rf_asReal(entropy)};
    Corpus corpus{{}, {}, REAL(mu), REAL(eta), XLENGTH(mu) > free};
    not_finite = fill(documents, model, corpus, n_threads, REAL(sigma_sum), REAL(beta_sum), REAL(bound), REAL(lambda));
  } catch (const std::bad_alloc&) {
    has_memory = false;  // said below, when no C++ object is left that R's jump would skip
  }
  if (!has_memory) Rf_error("there is not enough memory for %d documents", n);
  SEXP said = PROTECT(Rf_ScalarInteger(not_finite + 1));
  SEXP list = PROTECT(Rf_allocVector(VECSXP, 5)), names = PROTECT(Rf_allocVector(STRSXP, 5));
  const char* called[] = {"sigma", "beta", "bound", "lambda", "not_finite"};
  SEXP items[] = {sigma_sum, beta_sum, bound, lambda, said};
  for (int i = 0; i < 5; ++i) {
    SET_VECTOR_ELT(list, i, items[i]);
    SET_STRING_ELT(names, i, Rf_mkChar(called[i]));
  }
  Rf_setAttrib(list, R_NamesSymbol, names);
  UNPROTECT(7);
  return list;
}
