namespace Billing.Proxy.Failures;

/// <summary>A value, or the failure that there is instead.</summary>
internal readonly struct Outcome<T>
    where T : class
{
    private readonly T? _value;

    private Outcome(T? value, Failure? failure) => (_value, Failure) = (value, failure);

    /// <summary>The failure; null if there is a value.</summary>
    public Failure? Failure { get; }

    /// <summary>The value.</summary>
    /// <exception cref="FailureException">There is none.</exception>
    public T Value => _value ?? throw new FailureException(Failure!);

    /// <summary>An outcome with a value.</summary>
    public static implicit operator Outcome<T>(T value) => new(value, null);

    /// <summary>An outcome with a failure.</summary>
    public static implicit operator Outcome<T>(Failure failure) => new(null, failure);
}
