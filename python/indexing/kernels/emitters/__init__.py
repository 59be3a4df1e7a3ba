"""The emitters, one for each kind of hero: match, plan, kernel."""
