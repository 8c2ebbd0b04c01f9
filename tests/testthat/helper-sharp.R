# Settings of lme4 whose optimum is known to more digits than with its own.
sharp <- lme4::lmerControl(optimizer = "bobyqa", optCtrl = list(rhoend = 1e-9))
