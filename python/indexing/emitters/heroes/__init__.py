"""The emitters, one a form of hero: match, plan, kernel."""
