"""What `lumina eval` runs: scenarios over data of yours, each with its table, and nothing is downloaded.

`scenarios` names them; `loaders` read files in the public sets' own formats; `baselines` are what the memory is
compared with; `reports` are what comes out. A scenario plays conversations into real threads (`replay`) and looks at
what the library would send: there is no second copy of any rule here.
"""
