using System.Text;

namespace Billing.IntegrationTests.Services;

/// <summary>What a program that runs in this process writes to standard error, apart from what others write meanwhile.</summary>
internal sealed class ErrorOutput : TextWriter
{
    private static readonly AsyncLocal<StringWriter?> Captured = new();

    private readonly TextWriter _others;

    static ErrorOutput() => Console.SetError(Synchronized(new ErrorOutput(Console.Error)));

    private ErrorOutput(TextWriter others) => _others = others;

    public override Encoding Encoding => _others.Encoding;

    /// <summary>Keeps what is written from here on by the caller and whatever it starts.</summary>
    public static StringWriter Capture() => Captured.Value = new StringWriter();

    public override void Write(char value) => (Captured.Value ?? _others).Write(value);

    public override void Write(string? value) => (Captured.Value ?? _others).Write(value);
}
