// Delta-rule learner with softmax choice, hierarchical over games: perseveration, lapses, a bonus for groups seldom
// tried, two learning rates, generalisation over classes and free first values are switches. Without a switch its
// parameter is not there. Array syntax of Stan before 2.33, which rstan 2.21 to 2.32 read.
functions {
  // Log probabilities of the choices of one game; choice 0 (no choice was made) changes nothing.
  vector game_log_lik(int[] choice, int[] cls, vector reward, matrix first, real up, real down, real sharpness,
                      real perseveration, real lapse, real bonus, real generalisation) {
    int n = size(choice);
    int K = rows(first);
    int C = cols(first);
    vector[n] log_lik = rep_vector(0, n);
    matrix[K, C] value = first;
    matrix[K, C] tries = rep_matrix(0, K, C);
    int last[C] = rep_array(0, C);
    for (t in 1:n) {
      if (choice[t] > 0) {
        int c = cls[t];
        int k = choice[t];
        vector[K] utility = sharpness * col(value, c);
        if (bonus != 0) for (g in 1:K) utility[g] += bonus / sqrt(tries[g, c] + 1);
        if (last[c] > 0) utility[last[c]] += perseveration;
        if (lapse > 0) {
          log_lik[t] = log_sum_exp(log1m(lapse) + utility[k] - log_sum_exp(utility), log(lapse) - log(K));
        } else {
          log_lik[t] = utility[k] - log_sum_exp(utility);
        }
        if (generalisation > 0) {
          for (d in 1:C) {
            if (d != c) {
              real error = reward[t] - value[k, d];
              value[k, d] += generalisation * (error > 0 ? up : down) * error;
            }
          }
        }
        {
          real error = reward[t] - value[k, c];
          value[k, c] += (error > 0 ? up : down) * error;
        }
        tries[k, c] += 1;
        last[c] = k;
      }
    }
    return log_lik;
  }
}
data {
  int<lower=1> N; // rounds, sorted by game
  int<lower=1> J; // games
  int<lower=2> K; // groups
  int<lower=1> C; // classes
  int<lower=1, upper=N> begins[J];
  int<lower=1, upper=N> ends[J];
  int<lower=0, upper=K> choice[N];
  int<lower=1, upper=C> cls[N];
  vector<lower=0, upper=1>[N] reward;
  real<lower=0, upper=1> first_value; // before the first try, where first values are not free
  int<lower=0, upper=1> has_perseveration;
  int<lower=0, upper=1> has_lapse;
  int<lower=0, upper=1> has_two_rates;
  int<lower=0, upper=1> has_bonus;
  int<lower=0, upper=1> has_generalisation;
  int<lower=0, upper=1> has_free_values;
  int<lower=0, upper=1> prior_only;
}
parameters {
  real mu_rate;
  real mu_sharpness;
  vector[has_perseveration] mu_perseveration;
  vector[has_lapse] mu_lapse;
  vector[has_two_rates] rate_difference;
  vector[has_bonus] mu_bonus;
  vector[has_generalisation] mu_generalisation;
  matrix[has_free_values * K, has_free_values * C] free_values; // log odds, shared by all games
  vector<lower=0>[2 + has_perseveration] sd_games;
  matrix[2 + has_perseveration, J] z;
}
transformed parameters {
  vector[J] rate = mu_rate + sd_games[1] * z[1]';
  vector[J] sharpness = exp(mu_sharpness + sd_games[2] * z[2]');
  vector[J] perseveration = rep_vector(0, J);
  real lapse = has_lapse ? inv_logit(mu_lapse[1]) : 0;
  real bonus = has_bonus ? mu_bonus[1] : 0;
  real generalisation = has_generalisation ? inv_logit(mu_generalisation[1]) : 0;
  real half_difference = has_two_rates ? rate_difference[1] / 2 : 0;
  matrix[K, C] first = rep_matrix(first_value, K, C);
  if (has_perseveration) perseveration = mu_perseveration[1] + sd_games[3] * z[3]';
  if (has_free_values) first = inv_logit(free_values);
}
model {
  mu_rate ~ normal(-.5, 1.5);         // median .38, 95 % from .03 to .92
  mu_sharpness ~ normal(1.5, 1);      // median 4.5, 95 % from .6 to 32
  mu_perseveration ~ normal(0, 1.5);
  mu_lapse ~ normal(-3, 1);           // median .05, 95 % from .007 to .26
  rate_difference ~ normal(0, 1);
  mu_bonus ~ normal(0, 1.5);
  mu_generalisation ~ normal(-1, 1.5);
  to_vector(free_values) ~ normal(0, 1);
  sd_games ~ normal(0, 1);
  to_vector(z) ~ std_normal();
  if (!prior_only) {
    for (j in 1:J) {
      target += sum(game_log_lik(choice[begins[j]:ends[j]], cls[begins[j]:ends[j]], reward[begins[j]:ends[j]], first,
                                 inv_logit(rate[j] + half_difference), inv_logit(rate[j] - half_difference),
                                 sharpness[j], perseveration[j], lapse, bonus, generalisation));
    }
  }
}
