# One person, by hand. Practice: compatible 500, 700 and an error of 900; incompatible 800, 1000, 1200 and 10,001.
#   compatible: correct mean 600, the error counts as 600 + 600 = 1200; mean (500 + 700 + 1200) / 3 = 800.
#   incompatible, without what is above 10,000: mean 1000. SD of 500, 700, 900, 800, 1000, 1200: mean 850,
#   squares 122500 + 22500 + 2500 + 2500 + 22500 + 122500 = 295000; 295000 / 5 = 59000, its root 242.899156.
#   D = (1000 - 800) / 242.899156 = .823387.
# Test: compatible 600, 800; incompatible 900, 1100, none of them wrong.
#   means 700 and 1000; SD: mean 850, squares 62500 + 2500 + 2500 + 62500 = 130000; / 3 = 43333.33, root 208.166600.
#   D = 300 / 208.166600 = 1.441153. The mean of both is 1.132270.
by_hand <- function(person = 1) {
  data.frame(
    participant = person, phase = rep(c("practice", "test"), c(7, 4)),
    condition = c(rep(c("compatible", "incompatible"), c(3, 4)), rep(c("compatible", "incompatible"), each = 2)),
    response_time_ms = c(500, 700, 900, 800, 1000, 1200, 10001, 600, 800, 900, 1100),
    is_error = c(FALSE, FALSE, TRUE, rep(FALSE, 8))
  )
}
d_of <- function(rows) run_fit("d_score", rows, list(levels = c("compatible", "incompatible")))

test_that("D is what it is by hand", {
  slower <- transform(by_hand(2), response_time_ms = ifelse(condition == "compatible", 2, 1) * response_time_ms)
  people <- d_of(rbind(by_hand(), slower))$tables$people
  expect_equal(people$d[[1]], 1.132270, tolerance = 1e-6)
  expect_equal(unlist(people[1, c("n", "n_slow", "n_errors", "n_phases")]),
               c(n = 10, n_slow = 1, n_errors = 1, n_phases = 2))
})

test_that("whoever is too fast in more than a tenth of the trials is left out, and a message says so", {
  fast <- by_hand(3)
  fast$response_time_ms[c(1, 8)] <- 250 # 2 of 10
  found <- d_of(rbind(by_hand(), transform(by_hand(2), response_time_ms = response_time_ms + 10), fast))
  expect_equal(found$tables$people$left_out, c("", "", "too fast"))
  expect_match(found$fits$messages, "1 person left out: 1 too fast.", fixed = TRUE)
  expect_equal(found$fits$n_groups, 2)
  just <- by_hand(3)
  just$response_time_ms[[8]] <- 250 # 1 of 10 is no more than a tenth
  expect_false(is.na(d_of(rbind(by_hand(), just))$tables$people$d[[2]]))
})

test_that("the mean of people's D has a t test over people; a block that is missing is no D", {
  people <- do.call(rbind, lapply(1:5, function(k) {
    transform(by_hand(k), response_time_ms = response_time_ms + 40 * k * (condition == "incompatible"))
  }))
  lacking <- subset(by_hand(6), !(phase == "test" & condition == "compatible"))
  found <- d_of(rbind(people, lacking))
  scores <- found$tables$people$d[1:5]
  direct <- stats::t.test(scores)
  expect_equal(c(found$estimates$statistic, found$estimates$p_value), c(unname(direct$statistic), direct$p.value))
  expect_equal(found$tables$people$left_out[[6]], "a block is missing")
})

test_that("trials of which none says its phase are of one phase", {
  rows <- do.call(rbind, lapply(1:4, function(k) transform(by_hand(k), response_time_ms = response_time_ms + 9 * k)))
  unsaid <- d_of(transform(rows, phase = NA_character_))
  expect_equal(unsaid$tables$people$d, d_of(transform(rows, phase = "test"))$tables$people$d)
  expect_match(unsaid$fits$messages, "No row says its phase", fixed = TRUE)
  expect_match(d_of(transform(rows, is_error = NA))$fits$error, "have a missing value in is_error", fixed = TRUE)
})
