test_that("the band holds all points of uniform ranks together as often as it says, and no oftener than need be", {
  band <- uniform_band(50, 19)
  inside <- with_seed(1, replicate(4000, {
    shares <- counts_below(sample(0:19, 50, replace = TRUE), 19) / 50
    all(shares >= band$low - 1e-9 & shares <= band$high + 1e-9)
  }))
  expect_gt(mean(inside), .95 - 3 * sqrt(.95 * .05 / 4000))
  expect_lt(mean(inside), .965)
})

test_that("point by point the band is wider than that of one point, and narrower than Bonferroni's", {
  band <- uniform_band(200, 99)
  alone <- qbinom(.025, 200, .5) / 200
  of_99 <- qbinom(.025 / 99, 200, .5) / 200
  expect_lt(band$low[[50]], alone)
  expect_gt(band$low[[50]], of_99)
  expect_equal(band$high[[50]], 1 - band$low[[50]])
})

test_that("p of uniform ranks is uniform, and below .05 where the band is left", {
  band <- uniform_band(40, 9)
  both <- with_seed(2, replicate(500, {
    ranks <- sample(0:9, 40, replace = TRUE)
    shares <- counts_below(ranks, 9) / 40
    c(uniformity_p(ranks, 9), any(shares < band$low - 1e-9 | shares > band$high + 1e-9))
  }))
  expect_identical(both[1, ] < .05, both[2, ] == 1)
  expect_lt(abs(mean(both[1, ] < .5) - .5), .08)
})
