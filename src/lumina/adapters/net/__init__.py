"""The guarded client: the only part of Lumina that opens a connection.

`doors.Doors` hands out ways to send a request (`lumina.agent.ports.Door`): `web` for what a model, a page or a person
names, `configured` for the one place that an operator set. `client.configured_client` is the second for vendors' SDKs.
"""
