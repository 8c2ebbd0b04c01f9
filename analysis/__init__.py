"""Read the database, ask R, write results. Importing this starts no R and opens no file.

from slant import analysis

trials = analysis.open_trials("slant.duckdb")            # Polars, one row per trial
db = analysis.open("slant.duckdb", "rmiat")              # for several questions: db.tables(), db.fit("lme4") …
fits = analysis.fit("slant.duckdb", "rmiat", "lme4")
fits.table, fits.diagnostics, fits.variances, fits.messages
analysis.compare("slant.duckdb")                         # printed next to recomputed
draws = analysis.read_draws("slant.duckdb", fit="interference")   # of a Bayesian model
draws.frame, draws.path, draws.to_arviz()
analysis.check("slant.duckdb").rows["influence"]         # what the paper does not say
analysis.permute("slant.duckdb", permutations=100).tests # interference next to that of arbitrary labels
analysis.calibrate("slant.duckdb", "interference").summary  # is the sampler correct?
analysis.specifications("slant.duckdb", "rmiat").table   # the same question, analysed in other ways
analysis.plan_power("rmiat", pilot="slant.duckdb").table # smallest detectable effects with how many words, and its cost
analysis.meta_analysis("slant.duckdb", "rmiat").table    # one number over tests and models
analysis.validity("slant.duckdb", ["rmiat.d", "word_association.d"]).table  # do two measures agree?
analysis.agreement("slant.duckdb", "reasons").errors      # how often does a model that codes texts err, and where?
analysis.alike("slant.duckdb", "habits").summary         # does a model answer as people do?
analysis.successor("old.duckdb", "new.duckdb").table     # does it carry over to the next model?
analysis.atlas(["2024.duckdb", "2025.duckdb"]).summary   # do newer models lean more?
analysis.watch("slant.duckdb", "rmiat").moved           # what has moved since the first occasion?
analysis.game_indices("slant.duckdb", "hiring").table    # SI, BGD, GASI … with intervals, next to chance
analysis.game_differences("slant.duckdb", "hiring", only=["steer_fair"]).table  # against the unchanged game
analysis.figures("slant.duckdb", "rmiat", "figures")     # SVG and PNG, and the words for them
analysis.seal("slant.duckdb", "rmiat", "study.zip")      # everything as one file for others, who
analysis.replay("study.zip", "check").agrees             # make it again, and see whether it is the same
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from slant.collector.system.public_names import on_demand

if TYPE_CHECKING:
    from slant.analysis.archive.replaying import replay as replay
    from slant.analysis.archive.sealing import seal as seal
    from slant.analysis.calls.executors import mixed_versions as mixed_versions
    from slant.analysis.fitting.fits import FitResult as FitResult
    from slant.analysis.fitting.fits import fit as fit
    from slant.analysis.handle import Database as Database
    from slant.analysis.handle import open as open
    from slant.analysis.pages.html_report import report as report
    from slant.analysis.pages.report_tables import table_text as table_text
    from slant.analysis.paper.comparison import compare as compare
    from slant.analysis.plots.drawing import figures as figures
    from slant.analysis.questions.alike import Alike as Alike
    from slant.analysis.questions.alike import alike as alike
    from slant.analysis.questions.atlas import Atlas as Atlas
    from slant.analysis.questions.atlas import atlas as atlas
    from slant.analysis.questions.bayes_draws import read_draws as read_draws
    from slant.analysis.questions.calibration import Calibration as Calibration
    from slant.analysis.questions.calibration import calibrate as calibrate
    from slant.analysis.questions.checks.study_checks import check as check
    from slant.analysis.questions.coders import Agreement as Agreement
    from slant.analysis.questions.coders import agreement as agreement
    from slant.analysis.questions.games.differences import game_differences as game_differences
    from slant.analysis.questions.games.indices import game_indices as game_indices
    from slant.analysis.questions.meta import MetaAnalysis as MetaAnalysis
    from slant.analysis.questions.meta import Validity as Validity
    from slant.analysis.questions.meta import meta_analysis as meta_analysis
    from slant.analysis.questions.meta import validity as validity
    from slant.analysis.questions.occasions import Retest as Retest
    from slant.analysis.questions.occasions import Watch as Watch
    from slant.analysis.questions.occasions import retest as retest
    from slant.analysis.questions.occasions import watch as watch
    from slant.analysis.questions.permutation.permutations import PermutationResult as PermutationResult
    from slant.analysis.questions.permutation.permutations import permute as permute
    from slant.analysis.questions.power import PowerPlan as PowerPlan
    from slant.analysis.questions.power import plan_power as plan_power
    from slant.analysis.questions.sensitivity import specifications as specifications
    from slant.analysis.questions.successor import Successor as Successor
    from slant.analysis.questions.successor import successor as successor
    from slant.analysis.questions.topics.topic_models import read_topics as read_topics
    from slant.analysis.rows.views import open_trials as open_trials
    from slant.analysis.rows.views import tables as tables

__all__, __getattr__ = on_demand(__name__, __file__)
