# Any of the plot_…() functions by name, for callers that hold figures as data: the Python bridge.
draw_figure <- function(name, rows, file, width = NULL, height = NULL) {
  do.call(name, list(rows, file = file, width = width, height = height), quote = TRUE)
}
