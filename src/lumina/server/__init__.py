"""HTTP: the API, events over SSE, who may come in. It holds no state: the store has what matters."""
