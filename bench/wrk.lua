-- Sends the addresses of a file in turn, one on each line, and at the end tells in one line what became of them.

local requests, count, at = {}, 0, 0

function init(args)
   for path in io.lines(args[1]) do
      count = count + 1
      requests[count] = wrk.format("GET", path)
   end
end

function request()
   at = at % count + 1
   return requests[at]
end

function done(summary, latency)
   local e = summary.errors
   io.write(string.format("outcome requests=%d micros=%d status=%d connect=%d read=%d write=%d timeout=%d p50=%d p99=%d max=%d\n",
      summary.requests, summary.duration, e.status, e.connect, e.read, e.write, e.timeout,
      latency:percentile(50), latency:percentile(99), latency.max))
end
