# The figure is drawn as it was when its snapshot in _snaps/ was made. Another ggplot2 draws the same data a little
# otherwise, so elsewhere the other tests of the figure have to do.
expect_same_figure <- function(name, plot) {
  skip_if_not_installed("vdiffr")
  drawn_with <- "3.4"
  here <- as.character(utils::packageVersion("ggplot2"))
  is_same <- startsWith(here, paste0(drawn_with, "."))
  skip_if_not(is_same, sprintf("snapshots are of ggplot2 %s, here is %s", drawn_with, here))
  vdiffr::expect_doppelganger(name, plot)
}
