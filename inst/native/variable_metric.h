// The minimiser of R's optim(method = "BFGS"), which is Nash's (1990) Algorithm 21, for many small problems at once:
// R's own can't run on several threads.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "topic_document.h"

namespace slant {

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

}  // namespace slant
