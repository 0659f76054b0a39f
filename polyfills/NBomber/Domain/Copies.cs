namespace NBomber.Domain;

/// <summary>The copies of a closed model: each calls, waits for the answer, and calls again until it is told to go.</summary>
internal sealed class Copies(ScenarioRun run)
{
    private readonly Stack<Copy> _active = new();
    private int _numbers;

    public int Count { get; private set; }

    /// <summary>Adds or dismisses copies. A dismissed one completes its call first.</summary>
    public void Set(int count)
    {
        while (_active.Count < count)
        {
            var copy = new Copy(run, ++_numbers);
            _active.Push(copy);
            _ = Task.Run(copy.RunAsync);
        }
        while (_active.Count > count)
        {
            _active.Pop().Dismissed = true;
        }
        Count = count;
    }

    /// <summary>Has a number of copies make a number of calls between them.</summary>
    public async Task IterateAsync(int count, int iterations)
    {
        Set(0);
        var left = iterations;
        Count = count;
        await Task.WhenAll(Enumerable.Range(0, count).Select(_ => Task.Run(async () =>
        {
            var copy = new Copy(run, Interlocked.Increment(ref _numbers));
            while (!run.Stopped.IsCancellationRequested && Interlocked.Decrement(ref left) >= 0)
            {
                await copy.IterateAsync().ConfigureAwait(false);
            }
        }))).ConfigureAwait(false);
        Count = 0;
    }

    private sealed class Copy(ScenarioRun run, int number)
    {
        private readonly Contracts.ScenarioInfo _info = run.Instance(number);
        private readonly Dictionary<string, object> _data = new(StringComparer.Ordinal);
        private volatile bool _dismissed;

        public bool Dismissed
        {
            set => _dismissed = value;
        }

        public async Task RunAsync()
        {
            while (!_dismissed && !run.Stopped.IsCancellationRequested)
            {
                await IterateAsync().ConfigureAwait(false);
            }
        }

        public async Task IterateAsync()
        {
            var call = run.IterateAsync(_info, _data);
            if (call.IsCompleted)
            {
                // A call that never waits would keep its thread from all other copies.
                await Task.Yield();
            }
            await call.ConfigureAwait(false);
        }
    }
}
