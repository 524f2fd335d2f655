"""Pictures of what the engine and attention compute; `laboratory` draws the √d_k study."""
