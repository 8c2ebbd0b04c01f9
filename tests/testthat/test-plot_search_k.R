made_search <- function() {
  data.frame(
    n_topics = 3:6, heldout_likelihood = c(-5.2, -5.1, -5.05, -5.06), residual_dispersion = c(2.1, 1.3, .9, .5),
    semantic_coherence = c(-40, -46, -52, -60), exclusivity = c(8.8, 9.1, 9.3, 9.4), source = "imported"
  )
}

test_figure("each measure has a panel, and the words say what is best by it", {
  plot <- plot_search_k(made_search())
  expect_equal(nlevels(plot$data$measure), 4)
  said <- attr(plot, "alt_text")
  expect_match(said, "Held-out likelihood is best with 5 topics; Dispersion of residuals is best with 5 topics")
  expect_match(said, "Semantic coherence is best with 3 topics; Exclusivity is best with 6 topics")
})

test_figure("one number alone is drawn without a complaint, two searches in one are refused", {
  expect_silent(plot_search_k(made_search()[1, ], withr::local_tempfile(fileext = ".svg")))
  expect_error(plot_search_k(rbind(made_search(), made_search())), "rows of one search")
  expect_error(plot_search_k(made_search()[0, ]), "analyze topics search")
})

test_looks("search k", plot_search_k(made_search()), "the figure is drawn as it was")
