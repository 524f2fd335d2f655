"""Pictures and pages of what the engine and attention compute. `laboratory` draws the study of √d_k."""
